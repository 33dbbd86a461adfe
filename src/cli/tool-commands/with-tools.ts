import type { ToolSession } from '../../app/tool-session.ts';
import { CarrelError } from '../../base/errors.ts';
import type { ServedData } from '../../sharing/frames.ts';
import type { CommandLine } from '../command-line.ts';
import { quote, usageError } from '../usage-error.ts';

/** The tools that a command calls, in this process or in one that is already running. */
export interface OpenedTools extends Pick<ToolSession, 'call' | 'read' | 'close'> {
  /** Names the process that answers, for messages to users. */
  readonly process: string;
  readonly data: ServedData;
}

/** Opens the tools with the settings and data of `carrel serve`. */
export type OpenTools = (line: CommandLine, toolset: string) => Promise<OpenedTools>;

/** Opens the tools that a command needs, and always closes them. */
export async function withTools<Answer>(
  open: OpenTools,
  line: CommandLine,
  toolset: string,
  work: (tools: OpenedTools) => Promise<Answer>,
): Promise<Answer> {
  const tools = await open(line, toolset);
  if (line.flags['verbose'] === true) process.stderr.write(`carrel: answered by ${tools.process}\n`);
  try {
    process.stderr.write(`carrel: from ${describeData(tools.data, toolset)}\n`);
    return await work(tools);
  } catch (error) {
    throw asUsageError(error);
  } finally {
    await tools.close();
  }
}

/** Names the data source. Users then notice if an empty answer comes from the wrong folder. */
function describeData({ database, engine }: ServedData, toolset: string): string {
  if (engine === undefined || (toolset !== 'kb' && toolset !== 'find')) return database;
  return toolset === 'kb' ? `the engine at ${engine}` : `${database} and the engine at ${engine}`;
}

/** Turns errors about a tool's arguments into errors about flags: `top` is --limit here. */
function asUsageError(error: unknown): unknown {
  if (!(error instanceof CarrelError)) return error;
  if (error.code !== 'invalid_arguments' && error.code !== 'validation_error') return error;
  const message = error.message.replace(/^Invalid arguments for \w+: /, '').replace(/^top\b/, 'limit');
  return usageError(message, { cause: error });
}

/** Returns the value of a numeric flag. */
export function numberFlag({ flags }: CommandLine, name: string): number | undefined {
  const value = flags[name];
  if (typeof value !== 'string') return undefined;
  if (!/^\d{1,9}$/.test(value)) {
    throw usageError(`--${name} must be a whole number, not ${quote(value)}.`);
  }
  return Number(value);
}

export function textFlag({ flags }: CommandLine, name: string): string | undefined {
  const value = flags[name];
  return typeof value === 'string' ? value : undefined;
}

/** Drops undefined arguments, so the tool's defaults apply. */
export function withoutUndefined(args: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined));
}
