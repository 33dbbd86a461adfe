import { isatty } from 'node:tty';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { useCompiledCode } from '../app/compiled-code.ts';
import { ownerVariable } from '../app/owner/owner-variable.ts';
import { fileBeside, isBuilt } from '../base/places.ts';
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
  const flag = values['data-dir'];
  if (keepingCode.includes(command) && flag !== true) {
    // Node makes a folder of its own in there, which is for the owner alone too.
    process.umask(0o077);
    useCompiledCode(dataDirOf(flag, process.env));
  }
  const main: typeof import('./main.ts') = await import(fileBeside(import.meta.url, 'main').href);
  keepHeapsSmall();
  await main.run(argv, start);
}

/**
 * By itself V8 lets the room for new objects of every thread grow eightfold as soon as a few of them live on, and keeps it.
 * From here on it stays as it is: 50 MB less in a server that answers much at once, for 5 to 9 % more CPU time of searches by words.
 * It also lets old objects grow up to fourfold before it looks which of them are garbage. By 60 %: 100 MB less with long answers.
 */
function keepHeapsSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=60');
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
