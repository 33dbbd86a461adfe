import { parseArgs } from 'node:util';
import { roles, rolesToCome } from '../app/roles.ts';
import { CarrelError } from '../base/errors.ts';

export interface CommandLine {
  command: string;
  /** What follows the command, without flags. */
  words: readonly string[];
  flags: Readonly<Record<string, string | boolean | undefined>>;
}

type FlagType = 'string' | 'boolean';

const everywhere: Record<string, FlagType> = {
  help: 'boolean',
  version: 'boolean',
  debug: 'boolean',
  config: 'string',
  'data-dir': 'string',
};
const roleFlags: Record<string, FlagType> = {
  ...everywhere,
  transport: 'string',
  host: 'string',
  port: 'string',
  cody: 'boolean',
  toolsets: 'string',
  'read-only': 'boolean',
};
const forPeople: Record<string, FlagType> = { ...roleFlags, json: 'boolean' };

/** Commands that take a role to speak about as their one word. */
export const peopleCommands = ['config', 'doctor', 'tools'] as const;

/** Commands that take a file as their one word. */
export const fileCommands = ['export', 'import'] as const;

/** Reads the command line whole before anything is started; whatever does not fit is one clear line. */
export function parseCommandLine(argv: readonly string[]): CommandLine {
  const first = argv[0];
  const named = first !== undefined && !first.startsWith('-');
  const command = named ? first : 'serve';
  const accepted = acceptedFlags(command);
  const { values, positionals } = parse(named ? argv.slice(1) : [...argv], accepted);
  const takesWord = ([...peopleCommands, ...fileCommands] as readonly string[]).includes(command);
  const surplus = positionals[takesWord ? 1 : 0];
  if (surplus !== undefined) throw usage(`unexpected word ${quote(surplus)}`);
  return { command, words: positionals, flags: values };
}

function acceptedFlags(command: string): Record<string, FlagType> {
  if ((peopleCommands as readonly string[]).includes(command)) return forPeople;
  if (Object.hasOwn(roles, command) || Object.hasOwn(rolesToCome, command)) return roleFlags;
  if (command === 'help' || (fileCommands as readonly string[]).includes(command)) return everywhere;
  throw usage(`unknown command ${quote(command)}`);
}

function parse(argv: string[], accepted: Record<string, FlagType>) {
  const options = Object.fromEntries(Object.entries(accepted).map(([name, type]) => [name, { type }]));
  const { values, positionals, tokens } = parseArgs({
    args: argv,
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const type = Object.hasOwn(accepted, token.name) ? accepted[token.name] : undefined;
    if (type === undefined) throw usage(`unknown flag ${quote(token.rawName)}`);
    if (type === 'boolean' && token.value !== undefined) throw usage(`${token.rawName} takes no value`);
    if (type === 'string' && (!token.value || (!token.inlineValue && token.value.startsWith('--')))) {
      throw usage(`${token.rawName} needs a value`);
    }
  }
  return { values, positionals };
}

function usage(problem: string): CarrelError {
  return new CarrelError('invalid_usage', `${problem}. carrel --help shows what there is.`);
}

function quote(word: string): string {
  return JSON.stringify(word.length > 60 ? `${word.slice(0, 57)}...` : word);
}
