import { homedir, userInfo } from 'node:os';
import { CarrelError } from './errors.ts';

/** Returns the user's home folder. An empty HOME counts as unset. Otherwise, paths below it would be in the current folder. */
export function homeFolder(): string {
  const folder = findHome();
  if (folder !== undefined) return folder;
  const message = 'This user has no home folder. Set HOME, or name the data folder with CARREL_HOME or --data-dir.';
  throw new CarrelError('invalid_config', message);
}

/** Returns the home folder; undefined if the user has none, for example if the user id has no account. */
export function findHome(): string | undefined {
  for (const lookUp of [homedir, () => userInfo().homedir]) {
    try {
      const folder = lookUp();
      if (folder !== '') return folder;
    } catch {
      // The user id has no account.
    }
  }
  return undefined;
}
