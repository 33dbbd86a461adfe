import { homedir, userInfo } from 'node:os';
import { CarrelError } from './errors.ts';

/** The user's home folder. An empty HOME counts as unset: paths below it would be in the current folder. */
export function homeFolder(): string {
  const found = findHome();
  if (found !== undefined) return found;
  const message = 'This user has no home folder. Set HOME, or name the data folder with CARREL_HOME or --data-dir.';
  throw new CarrelError('invalid_config', message);
}

/** Undefined if there is none, as for a user that the system does not know. */
export function findHome(): string | undefined {
  for (const ask of [homedir, () => userInfo().homedir]) {
    try {
      const folder = ask();
      if (folder !== '') return folder;
    } catch {
      // Unknown user.
    }
  }
  return undefined;
}
