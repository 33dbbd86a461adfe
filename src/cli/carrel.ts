import { parseArgs } from 'node:util';
import { exitCodes } from '../base/exit-codes.ts';
import { fileBeside, isBuilt } from '../base/program-files.ts';
import { ownerVariable } from '../sharing/find-owner.ts';
import { isSharingDisabled, mayShare, relayStdio } from '../sharing/relay.ts';
import { useCompileCache } from './compile-cache.ts';
import { commandIndex } from './flags.ts';
import type { Start } from './role-command.ts';

/** Starts the program. Loads little code, because a stdio client often needs only a relay to a running process. */
export async function run(argv: readonly string[]): Promise<void> {
  if (!folderExists()) {
    process.stderr.write('carrel: The current folder no longer exists. Change to another folder and try again.\n');
    process.exitCode = exitCodes.usage;
    return;
  }
  if (isBuilt) useCompileCache(process.env);
  const start = ownerStart() ?? (await relay(argv));
  if (start === 'relayed' || (await runInSharedProcess(argv))) return;
  const main: typeof import('./main.ts') = await import(fileBeside(import.meta.url, 'main').href);
  await main.run(argv, start);
}

function folderExists(): boolean {
  try {
    process.cwd();
    return true;
  } catch {
    return false;
  }
}

/** Returns how to start if a relay started this process to serve several clients (the owner); otherwise undefined. */
function ownerStart(): Start | undefined {
  const { [ownerVariable]: ownerFilesJson } = process.env;
  delete process.env[ownerVariable];
  return ownerFilesJson === undefined ? undefined : { ownerFiles: JSON.parse(ownerFilesJson) };
}

async function relay(argv: readonly string[]): Promise<'relayed' | Start> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      'data-dir': { type: 'string' },
      config: { type: 'string' },
      transport: { type: 'string' },
      alone: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
      version: { type: 'boolean', short: 'v' },
    },
    // Invalid command lines are reported by the full program.
    strict: false,
    allowPositionals: true,
  });
  const index = commandIndex(argv);
  const command = (index === undefined ? undefined : argv[index]) ?? 'serve';
  return isBuilt && mayShare({ command, values }) ? relayStdio({ argv, command, values }) : {};
}

/** Commands that call tools. A process that is already running may answer them. */
const toolCommands: readonly string[] = [
  ...['search', 'find', 'get', 'remember'],
  ...['list', 'jobs', 'notes', 'threads', 'rm', 'status'],
];

async function runInSharedProcess(argv: readonly string[]): Promise<boolean> {
  const index = commandIndex(argv);
  if (!isBuilt || isSharingDisabled() || index === undefined || !toolCommands.includes(argv[index] ?? '')) return false;
  const { runShared }: typeof import('./shared-command.ts') = await import(
    fileBeside(import.meta.url, 'shared-command').href
  );
  return runShared(argv);
}
