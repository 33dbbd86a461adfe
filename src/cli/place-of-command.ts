import { everywhere, type FlagDescription } from './flags.ts';

/** The index of the command, after common flags: `carrel --data-dir x doctor`. Undefined if no command is named. */
export function placeOfCommand(argv: readonly string[]): number | undefined {
  let place = 0;
  for (let flag = globalFlag(argv[place]); flag !== undefined; flag = globalFlag(argv[place])) {
    place += flag.type === 'boolean' || argv[place]?.includes('=') === true ? 1 : 2;
  }
  return argv[place] === undefined || argv[place]?.startsWith('-') ? undefined : place;
}

function globalFlag(word: string | undefined): FlagDescription | undefined {
  return everywhere.find(({ name, short }) => word?.split('=', 1)[0] === `--${name}` || word === `-${short}`);
}
