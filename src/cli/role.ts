import { startProgram } from '../app/program.ts';
import { roles, rolesToCome } from '../app/roles.ts';
import { CarrelError } from '../base/errors.ts';
import type { CommandLine } from './command-line.ts';

/** SIGTERM must end the process within five seconds, whatever hangs. */
const stopMs = 4_500;

export async function roleCommand({ command, flags }: CommandLine): Promise<void> {
  const role = Object.hasOwn(roles, command) ? roles[command] : undefined;
  if (role === undefined) {
    const summary = rolesToCome[command] ?? command;
    throw new CarrelError('unavailable', `carrel ${command} (${summary}) is not in this version yet.`);
  }
  const program = await startProgram(role, flags);
  const stop = (): void => {
    setTimeout(() => process.exit(0), stopMs).unref();
    void program.close();
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  await program.ended;
  // Whatever still holds the loop (a socket to an upstream, a worker) has nothing left to do.
  process.exit(0);
}
