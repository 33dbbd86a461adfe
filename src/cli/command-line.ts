import { parseArgs } from 'node:util';
import type { CarrelError } from '../base/errors.ts';
import type { CommandDescription } from './commands/command.ts';
import { commands, findCommand } from './commands/commands.ts';
import type { FlagDescription } from './flags.ts';
import { commandIndex } from './flags.ts';
import { quote, suggestion, usageError } from './usage-error.ts';

export interface CommandLine {
  command: string;
  /** False if the default command was assumed. */
  isNamed: boolean;
  /** Arguments after the command, without flags. */
  args: readonly string[];
  flags: Readonly<Record<string, string | boolean | undefined>>;
  /** Values of repeatable flags. */
  lists: Readonly<Record<string, readonly string[]>>;
}

/** Parses and validates the command line. */
export function parseCommandLine(argv: readonly string[]): CommandLine {
  const index = commandIndex(argv);
  const isNamed = index !== undefined;
  const command = (isNamed ? argv[index] : undefined) ?? 'serve';
  const description = requireCommand(command);
  const { values, positionals } = parse(isNamed ? argv.toSpliced(index, 1) : [...argv], description.flags);
  const line = { command, isNamed, args: positionals, ...separateLists(values) };
  if (line.flags['help'] !== true && line.flags['version'] !== true) checkArgs(description, positionals);
  return line;
}

/** Returns the description of a command; throws if there is none. */
export function requireCommand(name: string): CommandDescription {
  const command = findCommand(name);
  if (command !== undefined) return command;
  const names = commands.map((each) => each.name);
  throw usage(`unknown command ${quote(name)}`, suggestion(name, names));
}

function checkArgs(description: CommandDescription, args: readonly string[]): void {
  const { name, argsMin = 0, argsMax = 0, missing, completes } = description;
  const surplus = args[argsMax];
  if (surplus !== undefined) throw usage(`unexpected argument ${quote(surplus)}`);
  if (args.length < argsMin) throw usageError(`carrel ${name} needs ${missing}.`);
  // An empty argument is usually an unset variable. As a path it would mean the current folder.
  if (completes === 'files' && args.includes('')) throw usage('an empty argument is not a file name');
}

type Values = ReturnType<typeof parse>['values'];

function separateLists(values: Values): Pick<CommandLine, 'flags' | 'lists'> {
  const flags: Record<string, string | boolean | undefined> = {};
  const lists: Record<string, readonly string[]> = {};
  for (const [name, value] of Object.entries(values)) {
    if (Array.isArray(value)) lists[name] = value.map(String);
    else flags[name] = value;
  }
  return { flags, lists };
}

function parse(argv: string[], accepted: readonly FlagDescription[]) {
  const options = Object.fromEntries(
    accepted.map(({ name, short, type }) => [
      name,
      {
        ...(type === 'list' ? { type: 'string' as const, multiple: true } : { type }),
        ...(short === undefined ? {} : { short }),
      },
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
    const flag = accepted.find(({ name }) => name === token.name);
    if (flag === undefined) {
      const names = accepted.map(({ name }) => name);
      throw usage(`unknown flag ${quote(token.rawName)}`, suggestion(token.name, names, '--'));
    }
    if (flag.type === 'boolean' && token.value !== undefined) throw usage(`${token.rawName} takes no value`);
    if (flag.type !== 'boolean' && (!token.value || (!token.inlineValue && token.value.startsWith('--')))) {
      throw usage(`${token.rawName} needs a value`);
    }
  }
  return { values, positionals };
}

function usage(problem: string, hint = ''): CarrelError {
  return usageError(`${problem}.${hint} Run carrel --help to list commands and flags.`);
}
