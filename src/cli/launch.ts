import { setImmediate } from 'node:timers/promises';
import { isatty } from 'node:tty';
import { parseArgs } from 'node:util';
import { type LoadedProgram, loadProgram } from '../app/compiled-code.ts';
import { keepHeapsSmall } from '../app/heaps.ts';
import { ownerVariable } from '../app/owner/owner-variable.ts';
import { fileBeside, isBuilt, programFile } from '../base/places.ts';
import { dataDirOf } from '../config/data-dir.ts';
import { exitCodes } from './exit-codes.ts';
import type { Start } from './role.ts';

const roles = ['serve', 'context', 'research', 'kb'];

/** Commands that keep or use compiled code in the data folder, whose place is known before any settings are read. */
const keepingCode = [...roles, 'search', 'find', 'get', 'list', 'jobs', 'notes', 'threads', 'remember'];

/**
 * Runs before the program. A client on stdio may only need a relay to a process that serves others already. Else it loads the
 * program with the code that an earlier start compiled, in half the time. It is a file of its own, because code that is
 * already loaded is already compiled.
 */
export async function run(argv: readonly string[]): Promise<void> {
  if (!isFolderThere()) {
    process.stderr.write('carrel: The current folder no longer exists. Change to another one, and try again.\n');
    process.exitCode = exitCodes.usage;
    return;
  }
  const { values, positionals } = parseArgs({
    args: [...argv],
    options: {
      'data-dir': { type: 'string' },
      config: { type: 'string' },
      transport: { type: 'string' },
      alone: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
      version: { type: 'boolean', short: 'v' },
    },
    // The program itself reports a wrong command line.
    strict: false,
    allowPositionals: true,
  });
  const { [0]: command = 'serve' } = argv[0]?.startsWith('-') ? [] : positionals;
  let start = ownerStart();
  const dataDir = findDataDir(values['data-dir']);
  if (start === undefined && dataDir !== undefined && mayShare(command, values)) {
    const relay: typeof import('./relay.ts') = await import(fileBeside(import.meta.url, 'relay').href);
    const outcome = await relay.relayStdio({ argv, command, values });
    if (outcome === 'relayed') return;
    start = outcome;
  }
  const { exports: main, keepCode } = await load(command, dataDir);
  // Loading blocks the loop, and so does what follows: not both at once.
  await setImmediate();
  keepHeapsSmall();
  await main.run(argv, { ...start, keepCode });
}

function isFolderThere(): boolean {
  try {
    process.cwd();
    return true;
  } catch {
    return false;
  }
}

/** Undefined where it is missing on the command line or nowhere to be found: the program itself reports that. */
function findDataDir(flag: unknown): string | undefined {
  if (typeof flag === 'boolean') return undefined;
  try {
    return dataDirOf(flag as string | undefined, process.env);
  } catch {
    return undefined;
  }
}

async function load(command: string, dataDir: string | undefined): Promise<LoadedProgram<typeof import('./main.ts')>> {
  const url = programFile(import.meta.url);
  if (!isBuilt) return { exports: await import(url.href), keepCode() {} };
  if (!keepingCode.includes(command) || dataDir === undefined) return loadProgram(url, {});
  return loadProgram(url, { purpose: command, dataDir });
}

/** A person at a terminal is alone, and so is everybody on Windows, where no folder of sockets can be kept from others. */
function mayShare(command: string, { alone, help, version }: Record<string, unknown>): boolean {
  if (!isBuilt || process.platform === 'win32' || !roles.includes(command) || alone || help || version) return false;
  return /^(false|0|no|off)?$/i.test(process.env['CARREL_ALONE']?.trim() ?? '') && !isatty(0);
}

/** As what a relay has started this process. */
function ownerStart(): Start | undefined {
  const { [ownerVariable]: place } = process.env;
  delete process.env[ownerVariable];
  return place === undefined ? undefined : { ownerPlace: JSON.parse(place) };
}
