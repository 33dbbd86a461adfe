import { parseArgs } from 'node:util';
import { roles } from '../app/roles.ts';
import { CarrelError } from '../base/errors.ts';

export interface CommandLine {
  command: string;
  /** The arguments after the command, without flags. */
  words: readonly string[];
  flags: Readonly<Record<string, string | boolean | undefined>>;
  /** The values of flags that may be given several times. */
  lists: Readonly<Record<string, readonly string[]>>;
}

type FlagType = 'string' | 'boolean' | 'list';

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
  'read-only': 'boolean',
};
/** The only role that lets you choose toolsets. */
const serveFlags: Record<string, FlagType> = { ...roleFlags, toolsets: 'string' };
const forPeople: Record<string, FlagType> = { ...serveFlags, json: 'boolean' };

/** Commands that take a role as their only argument. */
export const peopleCommands = ['config', 'doctor', 'tools'] as const;

interface Command {
  flags: Record<string, FlagType>;
  wordsMax: number;
}

const safety: Record<string, FlagType> = { ...everywhere, json: 'boolean', force: 'boolean' };

const adding: Record<string, FlagType> = {
  ...everywhere,
  json: 'boolean',
  watch: 'boolean',
  collection: 'string',
  tag: 'list',
  include: 'list',
  exclude: 'list',
};

/** Commands that take arguments of their own. */
const otherCommands: Record<string, Command> = {
  help: { flags: everywhere, wordsMax: 0 },
  export: { flags: everywhere, wordsMax: 1 },
  import: { flags: everywhere, wordsMax: 1 },
  add: { flags: adding, wordsMax: Number.POSITIVE_INFINITY },
  backup: { flags: safety, wordsMax: 1 },
  restore: { flags: safety, wordsMax: 1 },
};

/** Reads the whole command line before anything is started; any fault is one clear line. */
export function parseCommandLine(argv: readonly string[]): CommandLine {
  const first = argv[0];
  const named = first !== undefined && !first.startsWith('-');
  const command = named ? first : 'serve';
  const { flags: accepted, wordsMax } = knownCommand(command);
  const { values, positionals } = parse(named ? argv.slice(1) : [...argv], accepted);
  const surplus = positionals[wordsMax];
  if (surplus !== undefined) throw usage(`unexpected argument ${quote(surplus)}`);
  return { command, words: positionals, ...separate(values) };
}

function knownCommand(command: string): Command {
  const other = Object.hasOwn(otherCommands, command) ? otherCommands[command] : undefined;
  if (other !== undefined) return other;
  if ((peopleCommands as readonly string[]).includes(command)) return { flags: forPeople, wordsMax: 1 };
  if (Object.hasOwn(roles, command)) return { flags: command === 'serve' ? serveFlags : roleFlags, wordsMax: 0 };
  throw usage(`unknown command ${quote(command)}`);
}

type Values = ReturnType<typeof parse>['values'];

function separate(values: Values): Pick<CommandLine, 'flags' | 'lists'> {
  const flags: Record<string, string | boolean | undefined> = {};
  const lists: Record<string, readonly string[]> = {};
  for (const [name, value] of Object.entries(values)) {
    if (Array.isArray(value)) lists[name] = value.map(String);
    else flags[name] = value;
  }
  return { flags, lists };
}

function parse(argv: string[], accepted: Record<string, FlagType>) {
  const options = Object.fromEntries(
    Object.entries(accepted).map(([name, type]) => [
      name,
      type === 'list' ? { type: 'string' as const, multiple: true } : { type },
    ]),
  );
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
    if (type !== 'boolean' && (!token.value || (!token.inlineValue && token.value.startsWith('--')))) {
      throw usage(`${token.rawName} needs a value`);
    }
  }
  return { values, positionals };
}

function usage(problem: string): CarrelError {
  return new CarrelError('invalid_usage', `${problem}. Run carrel --help to see the commands and flags.`);
}

function quote(word: string): string {
  return JSON.stringify(word.length > 60 ? `${word.slice(0, 57)}...` : word);
}
