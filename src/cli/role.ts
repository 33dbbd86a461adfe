import { startProgram } from '../app/program.ts';
import { roles } from '../app/roles.ts';
import { CarrelError } from '../base/errors.ts';
import type { CommandLine } from './command-line.ts';

/** SIGTERM must end the process within five seconds, whatever hangs. */
const stopMs = 4_500;

export async function roleCommand({ command, flags }: CommandLine): Promise<void> {
  const role = Object.hasOwn(roles, command) ? roles[command] : undefined;
  if (role === undefined) throw new CarrelError('invalid_usage', `carrel has no role ${command}.`);
  const starting = startProgram(role, flags);
  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(0), stopMs).unref();
    // A signal may come while the program is still starting: it is then stopped as soon as it stands.
    void starting.then((program) => program.close()).catch(() => {});
  };
  // Not once: a terminal and npm both pass on the same Ctrl-C, and the second must not kill what the first is ending.
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  const program = await starting;
  await program.ended;
  // Whatever still holds the loop (a socket to an upstream, a worker) has nothing left to do.
  process.exit(0);
}
