import assert from 'node:assert/strict';
import { loadRoleConfig, prepareRole, startProgram } from '../app/program.ts';
import { roles } from '../app/roles.ts';
import type { OwnerPlace } from '../sharing/owner-place.ts';
import { createOwnership, isForSharing } from '../sharing/share-process.ts';
import type { CommandLine } from './command-line.ts';

/** SIGTERM must end the process within five seconds, whatever hangs. */
const stopMs = 4_500;

/** What was decided before the program was loaded. */
export interface Start {
  /** Where this process is to serve the clients of relays. */
  ownerPlace?: OwnerPlace;
  /** Worth a line in the log. */
  remark?: string;
}

export async function roleCommand({ command, flags }: CommandLine, start: Start): Promise<void> {
  const role = roles[command];
  assert(role, `${command} is no role`);
  const ownership = start.ownerPlace && createOwnership(start.ownerPlace);
  if (ownership && !isForSharing(loadRoleConfig(await prepareRole(role, flags), flags))) {
    ownership.say('alone');
    return;
  }
  const starting = startProgram(role, flags, {
    ownership,
    remark: start.remark,
    forPeople: {
      snippets: async (url, needsToken) =>
        (await import('./init/connect-snippets.ts')).connectSnippets(url, needsToken),
    },
  });
  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(0), stopMs).unref();
    // A signal may come while the program is still starting: it is then stopped as soon as it is up.
    void starting.then((program) => program.close()).catch(() => {});
  };
  // Not `once`: a terminal and npm both pass on the same Ctrl-C, and the second must not kill what the first is ending.
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  const program = await starting.catch((error: unknown) => {
    process.stderr.write(ownership?.voice.toldAtStart() ?? '');
    throw error;
  });
  await program.ended;
  // Whatever still keeps the loop alive (an upstream socket, a worker) has nothing left to do.
  process.exit(0);
}
