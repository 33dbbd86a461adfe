import { everywhere, type FlagDescription } from './flags.ts';

/** Returns the index of the command, which may follow common flags: `carrel --data-dir x doctor`. Undefined if none is named. */
export function commandIndex(argv: readonly string[]): number | undefined {
  let index = 0;
  for (let flag = globalFlag(argv[index]); flag !== undefined; flag = globalFlag(argv[index])) {
    index += flag.type === 'boolean' || argv[index]?.includes('=') === true ? 1 : 2;
  }
  return argv[index] === undefined || argv[index]?.startsWith('-') ? undefined : index;
}

function globalFlag(word: string | undefined): FlagDescription | undefined {
  return everywhere.find(({ name, short }) => word?.split('=', 1)[0] === `--${name}` || word === `-${short}`);
}
