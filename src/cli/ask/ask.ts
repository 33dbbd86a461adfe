import { serveRole } from '../../app/roles.ts';
import { openToolSession, type ToolSession } from '../../app/tool-session.ts';
import { CarrelError } from '../../base/errors.ts';
import type { CommandLine } from '../command-line.ts';
import { logOf } from '../debug-log.ts';
import { tellPlace } from './place.ts';

/** Opens what a command asks, with the settings and data of `carrel serve`, and closes it whatever happens. */
export async function ask<Answer>(
  line: CommandLine,
  toolset: string,
  work: (tools: ToolSession) => Promise<Answer>,
): Promise<Answer> {
  const tools = await openToolSession(serveRole, { ...line.flags, toolsets: toolset }, logOf(line));
  try {
    tellPlace(tools.config, toolset);
    return await work(tools);
  } catch (error) {
    throw asUsage(error);
  } finally {
    await tools.close();
  }
}

/** What does not fit a tool's schema was typed here, where `top` is called --limit. */
function asUsage(error: unknown): unknown {
  if (!(error instanceof CarrelError)) return error;
  if (error.code !== 'invalid_arguments' && error.code !== 'validation_error') return error;
  const fault = error.message.replace(/^Invalid arguments for \w+: /, '').replace(/^top\b/, 'limit');
  return new CarrelError('invalid_usage', fault, { cause: error });
}

/** A flag's value, for a tool that takes a number. */
export function numberFlag({ flags }: CommandLine, name: string): number | undefined {
  const given = flags[name];
  if (typeof given !== 'string') return undefined;
  if (!/^\d{1,9}$/.test(given)) {
    throw new CarrelError(
      'invalid_usage',
      `--${name} must be a whole number, not ${JSON.stringify(given.slice(0, 40))}.`,
    );
  }
  return Number(given);
}

export function textFlag({ flags }: CommandLine, name: string): string | undefined {
  const given = flags[name];
  return typeof given === 'string' ? given : undefined;
}

export function listFlag({ lists }: CommandLine, name: string): readonly string[] | undefined {
  return lists[name];
}

/** Only what was given: a tool has its own defaults. */
export function given(args: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined));
}
