import { storagePlace } from '../../app/configured-storage.ts';
import { loadRoleConfig } from '../../app/program.ts';
import { serveRole } from '../../app/roles.ts';
import { openToolSession, type ToolSession } from '../../app/tool-session.ts';
import { CarrelError } from '../../base/errors.ts';
import { isBuilt } from '../../base/program-files.ts';
import type { Config } from '../../config/load.ts';
import { sharingSlice } from '../../config/slices.ts';
import { storageSlice } from '../../storage/storage-slice.ts';
import { kbSlice } from '../../toolsets/kb/kb-slice.ts';
import type { CommandLine } from '../command-line.ts';
import { logOf } from '../debug-log.ts';

/** Opens the toolset that a command needs, with the settings and data of `carrel serve`, and always closes it. */
export async function ask<Answer>(
  line: CommandLine,
  toolset: string,
  work: (tools: ToolSession) => Promise<Answer>,
): Promise<Answer> {
  const shared = sharedCommands.has(line.command) ? await openShared(line) : undefined;
  const tools = shared ?? (await openToolSession(serveRole, { ...line.flags, toolsets: toolset }, logOf(line)));
  if (line.flags['verbose'] === true) {
    process.stderr.write(`carrel: ${shared ? 'asking the shared process' : 'asking in this process'}\n`);
  }
  try {
    tellPlace(tools.config, toolset);
    return await work(tools);
  } catch (error) {
    throw asUsage(error);
  } finally {
    await tools.close();
  }
}

/** Commands that need a model: the shared process loads it once. */
const sharedCommands: ReadonlySet<string> = new Set(['search', 'find', 'get', 'remember']);

async function openShared({ flags }: CommandLine): Promise<ToolSession | undefined> {
  const config = loadRoleConfig(serveRole, flags);
  if (!isBuilt || flags['debug'] === true || config.of(sharingSlice).alone || process.platform === 'win32') {
    return undefined;
  }
  const { openSharedSession } = await import('./shared-session.ts');
  const own = ['data-dir', 'config'].flatMap((name) => {
    const value = flags[name];
    return typeof value === 'string' ? [`--${name}`, value] : [];
  });
  return openSharedSession(config, own);
}

/** Prints the data source on stderr, so that an empty answer from the wrong folder is noticed. */
function tellPlace(config: Config, toolset: string): void {
  for (const warning of config.warnings) process.stderr.write(`carrel: ${warning}\n`);
  process.stderr.write(`carrel: from ${placeOf(config, toolset)}\n`);
}

function placeOf(config: Config, toolset: string): string {
  const { engineUrl } = config.of(kbSlice);
  if (toolset === 'kb' && engineUrl !== undefined) return `the engine at ${withoutCredentials(engineUrl)}`;
  const place = storagePlace(config.of(storageSlice), config.dataDir);
  const database = place.backend === 'sqlite' ? place.path : `PostgreSQL, ${withoutCredentials(place.url)}`;
  const isAsked = toolset === 'find' && engineUrl !== undefined;
  return isAsked ? `${database} and the engine at ${withoutCredentials(engineUrl)}` : database;
}

/** Host and database name, without user, password and options. */
export function withoutCredentials(address: string): string {
  try {
    const { host, pathname } = new URL(address);
    return `${host}${pathname}`.replace(/\/$/, '');
  } catch {
    return 'as configured';
  }
}

/** Tool arguments were typed as flags here, where `top` is called --limit. */
function asUsage(error: unknown): unknown {
  if (!(error instanceof CarrelError)) return error;
  if (error.code !== 'invalid_arguments' && error.code !== 'validation_error') return error;
  const fault = error.message.replace(/^Invalid arguments for \w+: /, '').replace(/^top\b/, 'limit');
  return new CarrelError('invalid_usage', fault, { cause: error });
}

/** A numeric flag's value. */
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

/** Drops undefined arguments, so the tool's defaults apply. */
export function given(args: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined));
}
