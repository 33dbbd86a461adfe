import { version } from '../base/package-info.ts';
import type { Config } from '../config/load.ts';
import { httpSlice, sharingSlice, toolsSlice } from '../config/slices.ts';
import type { ConsoleDeps } from '../console/console.ts';
import type { PageHandler } from '../mcp/http/service.ts';
import { type MessageLimits, messageLimits } from '../mcp/messages/messages.ts';
import { codyRevision, type SupportedRevisions } from '../mcp/protocol-versions.ts';
import { serveOverHttp, serveOverStdio } from '../mcp/serve.ts';
import type { ServerFeatures } from '../mcp/server-features.ts';
import { ownerFiles, ownerFolder } from '../sharing/owner-files.ts';
import type { RelayService } from '../sharing/serve-relays.ts';
import type { Ownership, SharedProcess } from '../sharing/share-process.ts';
import type { Telemetry } from '../telemetry/open-telemetry.ts';
import type { MeasuredSource } from '../telemetry/sampling.ts';
import type { Toolset } from '../tools/toolset.ts';
import { servedData } from './configured-storage.ts';
import { databaseSources } from './database-sources.ts';
import { listenLimitsOf } from './http-settings.ts';
import { leaveFolder } from './leave-folder.ts';
import { openAuthorities } from './open-authorities.ts';
import type { OpenedSharedStore } from './open-shared-store.ts';
import type { ProgramLog } from './program-log.ts';
import { type Program, type Role, revisionsOf, stopGraceMs } from './role.ts';
import type { SharedServices } from './shared-services.ts';
import { closeToolsets } from './toolsets.ts';

export interface ServeFeaturesOptions {
  readonly role: Role;
  readonly config: Config;
  readonly features: ServerFeatures;
  readonly logging: ProgramLog;
  readonly telemetry: Telemetry | undefined;
  readonly services: SharedServices;
  /** State shared by all processes on the database. */
  readonly sharedStore: OpenedSharedStore;
  /** Set if this process serves several stdio clients through relays, and not over its own stdin and stdout. */
  readonly ownership: Ownership | undefined;
  /** Identifies the data and settings. This process may answer `carrel` commands that use the same ones. */
  readonly commandKey: string | undefined;
  readonly cody: boolean;
  /** Client configuration snippets for the console. */
  readonly snippets: ConsoleDeps['snippets'] | undefined;
}

interface WireOptions {
  readonly revisions: SupportedRevisions;
  readonly limits: MessageLimits;
  readonly sources: readonly MeasuredSource[];
  /** Called after the last answer. */
  finish(): Promise<void>;
}

/** Serves a role's features on the configured transport. */
export function serveFeatures(options: ServeFeaturesOptions): Promise<Program> {
  const { role, config, features, telemetry, sharedStore } = options;
  const { toolsets } = features.catalogue;
  const { transport, messageBytesMax } = config.of(httpSlice);
  const { answerBytesMax } = config.of(toolsSlice);
  const wire: WireOptions = {
    revisions: options.cody ? codyRevision : revisionsOf(role),
    limits: { ...messageLimits, bytesMax: messageBytesMax, answerBytesMax },
    sources: [
      ...toolsets.flatMap(({ name, measure }) => (measure ? [{ name, measure }] : [])),
      ...(sharedStore.store ? databaseSources(config, options.services) : []),
    ],
    async finish() {
      await features.tasks?.close();
      await Promise.all([closeToolsets(toolsets), telemetry?.close(), sharedStore.close()]);
      features.log.info('stopped');
      features.log.flush();
    },
  };
  return transport === 'stdio' ? serveStreams(options, wire) : serveHttp(options, wire);
}

async function serveStreams(
  options: ServeFeaturesOptions,
  { revisions, sources, finish, ...wire }: WireOptions,
): Promise<Program> {
  const { role, config, features, telemetry, ownership } = options;
  telemetry?.watch({ sources });
  const limits = { ...wire.limits, bytesMax: Math.max(wire.limits.bytesMax, role.stdioMessageBytesMax ?? 0) };
  if (ownership) {
    const { shareProcess } = await import('../sharing/share-process.ts');
    const idleMs = config.of(sharingSlice).idleSeconds * 1000;
    const shared = { ...sharedProcess(options), revisions, limits, idleMs };
    const service = await shareProcess(ownership, shared, () => leaveFolder(config));
    return {
      url: undefined,
      ended: (service?.ended ?? Promise.resolve()).then(finish),
      close: async () => service?.close(stopGraceMs),
    };
  }
  const service = serveOverStdio({ features, revisions, limits, input: process.stdin, output: process.stdout });
  if (process.stdin.isTTY) {
    features.log.warn('speaking MCP on stdin and stdout; use --transport http to serve a port instead');
  }
  return { url: undefined, ended: service.closed.then(finish), close: () => service.close() };
}

function sharedProcess({ role, config, features, logging, commandKey }: ServeFeaturesOptions) {
  const data = role.name === 'serve' ? servedData(config) : undefined;
  return { ...logging, config, roleName: role.name, features, commandKey, servedData: data };
}

async function serveHttp(
  options: ServeFeaturesOptions,
  { revisions, limits, sources, finish }: WireOptions,
): Promise<Program> {
  const { role, config, features, telemetry, sharedStore } = options;
  const http = config.of(httpSlice);
  const { toolsets } = features.catalogue;
  const opened = await openAuthorities(role, config, features.log, options.services);
  const { authorities, resource, tokens, close: closeAuthorities } = opened;
  const { served, pages } = await withConsole(options, tokens);
  const service = await serveOverHttp({
    ...http,
    authorities,
    resource,
    features: served,
    shared: sharedStore.store,
    ...(pages ? { pages } : {}),
    ...(telemetry ? { metrics: telemetry.prometheus } : {}),
    revisions,
    limits,
    tokens: http.authToken ? { default: http.authToken } : {},
    sessions: {
      sessionsMax: http.sessionsMax,
      perCallerMax: http.sessionsPerCallerMax,
      idleMs: http.sessionIdleMinutes * 60_000,
    },
    listenLimits: listenLimitsOf(http),
    acceptsBareCalls: role.acceptsBareCalls === true,
    streams: role.streams ?? true,
    health: (detailed) => healthReport(toolsets, detailed),
    secretRoutes: toolsets.flatMap(({ secretRoutes }) => secretRoutes ?? []),
  }).catch(async (error: unknown) => {
    await closeAuthorities();
    throw error;
  });
  telemetry?.watch({ sources, gauges: service });
  const commands = await answerCommands({ ...sharedProcess(options), revisions, limits, idleMs: undefined });
  process.stderr.write(`carrel: listening on ${service.url}\n`);
  const ended = Promise.withResolvers<void>();
  return {
    url: service.url,
    ended: ended.promise.then(finish),
    async close() {
      await Promise.all([service.close(stopGraceMs), commands?.close(stopGraceMs)]);
      await closeAuthorities();
      ended.resolve();
    },
  };
}

/** Lets an HTTP server also answer the `carrel` commands of its user, on a socket that other users can't reach. */
async function answerCommands(shared: SharedProcess): Promise<RelayService | undefined> {
  const { config, commandKey } = shared;
  if (commandKey === undefined || config.of(sharingSlice).alone || process.platform === 'win32') return undefined;
  const files = ownerFiles(ownerFolder(config.dataDir, process.env), commandKey);
  // The server's own messages go to its stderr, not to the commands.
  const userOutput = { print() {}, outputAtStart: () => '', connect() {} };
  const { shareProcess } = await import('../sharing/share-process.ts');
  return shareProcess({ files, reportState() {}, userOutput }, shared, () => {});
}

/** Adds the console in roles that have one. */
async function withConsole(
  { role, config, features, snippets = async () => [] }: ServeFeaturesOptions,
  tokens: ConsoleDeps['tokens'],
): Promise<{ served: ServerFeatures; pages?: PageHandler }> {
  if (!role.hasConsole) return { served: features };
  const { openConsole } = await import('./open-console.ts');
  return openConsole(config, features, snippets, tokens);
}

function healthReport(toolsets: readonly Toolset[], detailed: boolean): Record<string, unknown> {
  const base = { status: 'ok', timestamp: new Date().toISOString() };
  if (!detailed) return base;
  return Object.assign(base, { version }, ...toolsets.map((toolset) => toolset.health?.() ?? {}));
}
