import assert from 'node:assert/strict';
import { loadRoleConfig, prepareRole, startProgram } from '../app/program.ts';
import { roles } from '../app/roles.ts';
import { isBuilt } from '../base/program-files.ts';
import { settingPaths } from '../sharing/find-owner.ts';
import type { OwnerFiles } from '../sharing/owner-files.ts';
import { commandKey, readSharingFacts } from '../sharing/process-key.ts';
import { createOwnership, isForSharing } from '../sharing/share-process.ts';
import type { CommandLine } from './command-line.ts';

/** Time after SIGTERM until the process exits even if something hangs. */
const stopMs = 4_500;

/** How to start, as decided before the full program was loaded. */
export interface Start {
  /** Set if this process serves clients through relays. */
  ownerFiles?: OwnerFiles;
  /** A line to log at start. */
  remark?: string;
}

export async function roleCommand({ command, flags }: CommandLine, start: Start): Promise<void> {
  const role = roles[command];
  assert(role, `${command} is not a role`);
  const ownership = start.ownerFiles && createOwnership(start.ownerFiles);
  if (ownership && !isForSharing(loadRoleConfig(await prepareRole(role, flags), flags))) {
    ownership.reportState('alone');
    return;
  }
  const starting = startProgram(role, flags, {
    ownership,
    commandKey: commandKeyOf(command, flags),
    remark: start.remark,
    snippets: async (url, needsToken) => (await import('./init/connect-snippets.ts')).connectSnippets(url, needsToken),
  });
  let isStopping = false;
  const stop = (): void => {
    if (isStopping) return;
    isStopping = true;
    setTimeout(() => process.exit(0), stopMs).unref();
    // If the signal arrives during startup, the program stops when it has started.
    void starting.then((program) => program.close()).catch(() => {});
  };
  // Not `once`: both the terminal and npm send a signal for Ctrl-C, and the second must not interrupt the shutdown.
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  const program = await starting.catch((error: unknown) => {
    process.stderr.write(ownership?.userOutput.outputAtStart() ?? '');
    throw error;
  });
  await program.ended;
  // Nothing is left to do, but idle handles may keep the event loop alive.
  process.exit(0);
}

/** Flags that determine how clients connect and which tools they see. They do not affect answers to commands. */
const clientFlags: readonly string[] = [
  ...['data-dir', 'config', 'debug', 'transport', 'host', 'port'],
  ...['alone', 'tools', 'allow'],
];

/** Returns the key by which CLI commands find this process. Undefined if its flags would change their answers. */
function commandKeyOf(command: string, flags: CommandLine['flags']): string | undefined {
  const hasDefaultAnswers = command === 'serve' && Object.keys(flags).every((name) => clientFlags.includes(name));
  if (!isBuilt || !hasDefaultAnswers) return undefined;
  return commandKey(readSharingFacts(), settingPaths(flags), process.env);
}
