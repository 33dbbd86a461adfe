import { setImmediate } from 'node:timers/promises';
import { isatty } from 'node:tty';
import { parseArgs } from 'node:util';
import { type LoadedProgram, loadProgram } from '../app/compiled-code.ts';
import { keepHeapsSmall } from '../app/heaps.ts';
import { ownerVariable } from '../app/owner/owner-variable.ts';
import { fileBeside, isBuilt, programFile } from '../base/places.ts';
import { dataDirOf } from '../config/data-dir.ts';
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
  if (start === undefined && mayShare(command, values)) {
    const relay: typeof import('./relay.ts') = await import(fileBeside(import.meta.url, 'relay').href);
    const outcome = await relay.relayStdio({ argv, command, values });
    if (outcome === 'relayed') return;
    start = outcome;
  }
  const { exports: main, keepCode } = await load(command, values['data-dir']);
  // Loading blocks the loop, and so does what follows: not both at once.
  await setImmediate();
  keepHeapsSmall();
  await main.run(argv, { ...start, keepCode });
}

async function load(command: string, dataDir: unknown): Promise<LoadedProgram<typeof import('./main.ts')>> {
  const url = programFile(import.meta.url);
  if (!isBuilt) return { exports: await import(url.href), keepCode() {} };
  if (!keepingCode.includes(command) || typeof dataDir === 'boolean') return loadProgram(url, {});
  return loadProgram(url, { purpose: command, dataDir: dataDirOf(dataDir as string | undefined, process.env) });
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
