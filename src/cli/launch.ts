import { parseArgs } from 'node:util';
import { useCompiledCode } from '../app/compiled-code.ts';
import { fileBeside } from '../base/places.ts';
import { dataDirOf } from '../config/data-dir.ts';

/** Commands that keep or use compiled code in the data folder, whose place is known before any settings are read. */
const keepingCode = [
  ...['serve', 'context', 'research', 'kb'],
  ...['search', 'find', 'get', 'list', 'jobs', 'notes', 'threads', 'remember'],
];

/**
 * Runs before the program and loads it with the code that an earlier start compiled, in half the time. It is
 * a file of its own, because code that is already loaded is already compiled.
 */
export async function run(argv: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...argv],
    options: { 'data-dir': { type: 'string' } },
    // The program itself reports a wrong command line.
    strict: false,
    allowPositionals: true,
  });
  const { [0]: command = 'serve' } = argv[0]?.startsWith('-') ? [] : positionals;
  const flag = values['data-dir'];
  if (keepingCode.includes(command) && flag !== true) {
    // Node makes a folder of its own in there, which is for the owner alone too.
    process.umask(0o077);
    useCompiledCode(dataDirOf(flag, process.env));
  }
  const main: typeof import('./main.ts') = await import(fileBeside(import.meta.url, 'main').href);
  await main.run(argv);
}
