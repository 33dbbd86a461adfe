import { join } from 'node:path';
import { oauthSlice } from '../access/oauth/oauth-slice.ts';
import { CarrelError } from '../base/errors.ts';
import { createLogger, formatFields, type Logger, type LogSink } from '../base/log.ts';
import { createFileSink, createStderrSink } from '../base/log-sinks.ts';
import { version } from '../base/package-info.ts';
import { type Config, loadConfig } from '../config/load.ts';
import { httpSlice, logSlice, sharingSlice, toolsSlice } from '../config/slices.ts';
import type { ConsoleDeps } from '../console/console.ts';
import { isLoopbackHost } from '../http/guards.ts';
import { createCallJobs } from '../jobs/call-jobs.ts';
import { createSharedCallJobs } from '../jobs/shared-call-jobs.ts';
import { createTasks } from '../jobs/tasks.ts';
import type { PageHandler } from '../mcp/http/service.ts';
import { messageLimits } from '../mcp/messages.ts';
import type { Offer } from '../mcp/offer.ts';
import { codyRevision, type OfferedRevisions } from '../mcp/protocol-versions.ts';
import { embeddingSlice } from '../search/embeddings/embedding-slice.ts';
import type { Telemetry } from '../telemetry/open-telemetry.ts';
import { telemetrySlice } from '../telemetry/telemetry-slice.ts';
import type { Toolset } from '../tools/toolset.ts';
import { leaveFolder } from './leave-folder.ts';
import { listenLimitsOf } from './listen-limits.ts';
import { hasNamedTokens, openAuthorities, readOAuth } from './open-authorities.ts';
import { type OpenedSharedStore, openSharedStore } from './open-shared-store.ts';
import type { Ownership } from './owner/ownership.ts';
import { replicaSources } from './replica-source.ts';
import type { Flags, Role, RoleService } from './role.ts';
import { createSharedParts, type SharedParts } from './shared-parts.ts';
import { serveSlices } from './toolsets.ts';

export type { Flags } from './role.ts';

/** What the console shows and only the command line knows. */
export interface ForPeople {
  snippets: ConsoleDeps['snippets'];
}

export interface Program {
  /** Where it listens; undefined on stdio. */
  readonly url: string | undefined;
  /** Settles when the program has nothing left to serve. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/** Time for running calls to end after SIGTERM; the whole stop must take less than five seconds. */
const stopGraceMs = 3_000;

/** Settings that every role has. */
export const programSlices = [httpSlice, oauthSlice, toolsSlice, sharingSlice, logSlice, telemetrySlice] as const;

/** The role as its own configuration file defines it, if it has one. */
export async function prepareRole(role: Role, flags: Flags, env: NodeJS.ProcessEnv = process.env): Promise<Role> {
  return (await role.prepare?.(flags, env)) ?? role;
}

export function loadRoleConfig(role: Role, flags: Flags, env: NodeJS.ProcessEnv = process.env): Config {
  return loadConfig({
    slices: [...programSlices, ...role.slices],
    flags,
    env,
    overrides: role.overrides,
    readsFile: role.prepare === undefined,
    otherSections: serveSlices.map(({ name }) => name),
    ...(role.envFile ? { envFileFolder: process.cwd() } : {}),
    ...(role.dataDirVariables ? { dataDirVariables: role.dataDirVariables } : {}),
  });
}

export interface ProgramOptions {
  forPeople?: ForPeople;
  /** It serves the clients of several relays, instead of one on its own streams. */
  ownership?: Ownership | undefined;
  /** Worth a line in the log. */
  remark?: string | undefined;
  /** Keeps compiled code for later starts. */
  keepCode?: ((dataDir: string) => void) | undefined;
}

export async function startProgram(chosen: Role, flags: Flags, options: ProgramOptions = {}): Promise<Program> {
  const { ownership, remark, forPeople, keepCode } = options;
  const role = await prepareRole(chosen, flags);
  const config = loadRoleConfig(role, flags);
  role.check?.(config);
  const logging = openLog(role, config, flags['debug'] === true, ownership?.voice.tell);
  const { log } = logging;
  for (const warning of [...config.warnings, ...(role.warnings ?? [])]) log.warn(warning);
  if (remark !== undefined) log.info(remark);
  await checkExposure(role, config, log);
  // Files that others write for us, such as Node's cache, are private to the owner too.
  process.umask(0o077);
  // A role with a folder of its own does not touch the program's.
  if (role.prepare === undefined) keepCode?.(config.dataDir);
  warnOfSlowModel(role, config, log);
  if (role.serve) {
    const program = await serveOwn(role.serve, config, log, await startTelemetry(role, config, log));
    leaveFolder(config);
    return program;
  }
  const telemetry = await telemetryIfUsed(role, config, log);
  const shared = createSharedParts(config, telemetry?.recorder);
  const common = openSharedStore(role, config, shared);
  const jobs = createSharedCallJobs(createCallJobs(), async () => (await common).store);
  const opening = role.openToolsets(config, log, jobs, shared);
  // The protocol code loads while the database opens on its own thread.
  const [toolsets, protocol, kept] = await Promise.all([opening, loadProtocol(), common]);
  try {
    const { createRoleOffer, ...transports } = protocol;
    const tasks = role.revisions.modern
      ? createTasks({ folder: join(config.dataDir, 'tasks'), shared: kept.store, log })
      : undefined;
    const offer = createRoleOffer(role, config, log, toolsets, {
      jobs,
      tasks,
      recorder: telemetry?.recorder,
      shared: kept.store,
    });
    const special = { cody: flags['cody'] === true, forPeople, logging, ownership };
    const program = await serve(role, config, offer, special, transports, telemetry, shared, kept);
    if (ownership === undefined) leaveFolder(config);
    log.info('started', { version, node: process.version, toolsets: toolsets.map(({ name }) => name).join(',') });
    return program;
  } catch (error) {
    await closeAll(toolsets);
    await Promise.all([telemetry?.close(), kept.close()]);
    throw error;
  }
}

/** Serves a role that does not speak MCP. */
async function serveOwn(
  serveRole: NonNullable<Role['serve']>,
  config: Config,
  log: Logger,
  telemetry: Telemetry,
): Promise<Program> {
  const service: RoleService = await serveRole(config, log, telemetry);
  process.stderr.write(`carrel: listening on ${service.url}\n`);
  log.info('started', { version, node: process.version });
  const ended = Promise.withResolvers<void>();
  return {
    url: service.url,
    ended: ended.promise,
    async close() {
      await service.close(stopGraceMs);
      await telemetry.close();
      log.info('stopped');
      log.flush();
      ended.resolve();
    },
  };
}

async function loadProtocol() {
  const [{ createRoleOffer }, { serveOverHttp, serveOverRelays, serveOverStdio }] = await Promise.all([
    import('./role-offer.ts'),
    import('../mcp/serve.ts'),
  ]);
  return { createRoleOffer, serveOverHttp, serveOverRelays, serveOverStdio };
}

type Transports = Omit<Awaited<ReturnType<typeof loadProtocol>>, 'createRoleOffer'>;

interface Special {
  cody: boolean;
  forPeople: ForPeople | undefined;
  logging: Logging;
  ownership: Ownership | undefined;
}

async function serve(
  role: Role,
  config: Config,
  offer: Offer,
  { cody, forPeople, logging, ownership }: Special,
  { serveOverHttp, serveOverRelays, serveOverStdio }: Transports,
  telemetry: Telemetry | undefined,
  shared: SharedParts,
  kept: OpenedSharedStore,
): Promise<Program> {
  const http = config.of(httpSlice);
  const { log } = offer;
  const { toolsets } = offer.catalogue;
  const revisions: OfferedRevisions = cody ? codyRevision : role.revisions;
  const { answerBytesMax } = config.of(toolsSlice);
  const limits = { ...messageLimits, bytesMax: http.messageBytesMax, answerBytesMax };
  const sources = [
    ...toolsets.flatMap(({ name, measure }) => (measure ? [{ name, measure }] : [])),
    ...(kept.store ? replicaSources(config, shared) : []),
  ];
  const finish = async (): Promise<void> => {
    await offer.tasks?.close();
    await Promise.all([closeAll(toolsets), telemetry?.close(), kept.close()]);
    log.info('stopped');
    log.flush();
  };

  if (http.transport === 'stdio') {
    telemetry?.watch({ sources });
    const stdioLimits = { ...limits, bytesMax: Math.max(limits.bytesMax, role.stdioBytesMin ?? 0) };
    if (ownership) {
      const { shareProgram } = await import('./owner/share-program.ts');
      const program = { ...logging, config, roleName: role.name, offer, revisions, limits: stdioLimits };
      const service = await shareProgram(ownership, program, serveOverRelays);
      return {
        url: undefined,
        ended: (service?.ended ?? Promise.resolve()).then(finish),
        close: async () => service?.close(),
      };
    }
    const service = serveOverStdio({
      offer,
      revisions,
      limits: stdioLimits,
      input: process.stdin,
      output: process.stdout,
    });
    if (process.stdin.isTTY) log.warn('speaking MCP on stdin and stdout; use --transport http to serve a port instead');
    return { url: undefined, ended: service.closed.then(finish), close: () => service.close() };
  }

  const { served, pages } = await withConsole(role, config, offer, forPeople);
  const { authorities, resource, close } = await openAuthorities(role, config, log, shared);
  const service = await serveOverHttp({
    ...http,
    authorities,
    resource,
    offer: served,
    shared: kept.store,
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
    bareCalls: role.bareCalls,
    streams: role.streams ?? true,
    health: (detailed) => healthReport(toolsets, detailed),
    secretRoutes: toolsets.flatMap(({ secretRoutes }) => secretRoutes ?? []),
  }).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  telemetry?.watch({ sources, gauges: service });
  process.stderr.write(`carrel: listening on ${service.url}\n`);
  const ended = Promise.withResolvers<void>();
  return {
    url: service.url,
    ended: ended.promise.then(finish),
    async close() {
      await service.close(stopGraceMs);
      await close();
      ended.resolve();
    },
  };
}

/** The console stands beside MCP in the roles that have something to show to people. */
async function withConsole(
  role: Role,
  config: Config,
  offer: Offer,
  forPeople: ForPeople | undefined,
): Promise<{ served: Offer; pages?: PageHandler }> {
  if (!role.hasConsole) return { served: offer };
  const { openConsole } = await import('./open-console.ts');
  return openConsole(config, offer, forPeople?.snippets ?? (async () => []));
}

/** Over stdio there is nobody who could look, unless it is sent somewhere. */
async function telemetryIfUsed(role: Role, config: Config, log: Logger): Promise<Telemetry | undefined> {
  const isUsed = config.of(httpSlice).transport === 'http' || config.of(telemetrySlice).endpoint !== '';
  return isUsed ? startTelemetry(role, config, log) : undefined;
}

async function startTelemetry(role: Role, config: Config, log: Logger): Promise<Telemetry> {
  const [{ openTelemetry }, { readTarget }] = await Promise.all([
    import('../telemetry/open-telemetry.ts'),
    import('../telemetry/otlp/target.ts'),
  ]);
  const target = readTarget(config.of(telemetrySlice), role.name);
  if (typeof target === 'string') log.warn(`nothing is sent to OpenTelemetry: ${target}`);
  return openTelemetry(role.name, typeof target === 'string' ? undefined : target, { log });
}

function healthReport(toolsets: readonly Toolset[], detailed: boolean): Record<string, unknown> {
  const base = { status: 'ok', timestamp: new Date().toISOString() };
  if (!detailed) return base;
  return Object.assign(base, { version }, ...toolsets.map((toolset) => toolset.health?.() ?? {}));
}

interface Logging {
  log: Logger;
  file: LogSink;
  people(tell: (text: string) => void): LogSink;
}

function openLog(role: Role, config: Config, debug: boolean, tell?: (text: string) => void): Logging {
  const people = (say?: (text: string) => void): LogSink =>
    createStderrSink(debug ? 'debug' : 'warn', ({ event, fields }) => `carrel: ${event}${formatFields(fields)}`, say);
  const file = role.openLog?.(debug) ?? openLogFile(config, debug);
  logCrashes(createLogger([file], { role: role.name }));
  return { log: createLogger([file, people(tell)], { role: role.name }), file, people };
}

/** Whoever sees to the exit tells people; the log has the stack. */
function logCrashes(log: Logger): void {
  process.on('uncaughtExceptionMonitor', (error, origin) => {
    log.incident('crashed', error, { origin });
    log.flush();
  });
}

function openLogFile(config: Config, debug: boolean): LogSink {
  const { level, fileBytesMax, filesMax } = config.of(logSlice);
  const file = join(config.dataDir, 'log', 'carrel.log');
  try {
    return createFileSink({ file, level: debug ? 'debug' : level, bytesMax: fileBytesMax, filesMax });
  } catch (error) {
    const message = `Can't write the log file ${file}. Check the permissions, or choose another folder with --data-dir.`;
    throw new CarrelError('invalid_config', message, { cause: error });
  }
}

/** Being reachable by others must be the operator's intention. */
async function checkExposure(role: Role, config: Config, log: Logger): Promise<void> {
  const { transport, host, authToken } = config.of(httpSlice);
  if (transport === 'stdio' || isLoopbackHost(host) || authToken !== undefined) return;
  if (readOAuth(config) !== undefined || (await hasNamedTokens(role, config))) return;
  if (role.tokenBeyondLoopback) {
    throw new CarrelError(
      'invalid_config',
      `Listening on ${host} would give others access to everything. Set a token (carrel token add, CARREL_AUTH_TOKEN or http.authToken in the configuration file), or listen on 127.0.0.1.`,
    );
  }
  // Worded unlike the "listening on" line: programs that wait for that one must not match this.
  log.warn(`WARNING: ${host} is open to others without a token: everybody who can reach it can use the server`);
}

/** Soon, but not before the first answers: nothing waits for it. */
const warnAfterMs = 500;

function warnOfSlowModel(role: Role, config: Config, log: Logger): void {
  if (!role.slices.includes(embeddingSlice) || config.of(embeddingSlice).provider !== 'local') return;
  const warn = async (): Promise<void> => {
    const { missingRuntimeRemedy } = await import('../search/models/native-runtime.ts');
    const remedy = missingRuntimeRemedy();
    if (remedy === undefined) return;
    log.warn(`the model runs in WebAssembly, about seven times as slowly: onnxruntime-node is missing. Run ${remedy}`);
  };
  setTimeout(() => void warn(), warnAfterMs).unref();
}

async function closeAll(toolsets: readonly Toolset[]): Promise<void> {
  await Promise.allSettled(toolsets.map((toolset) => toolset.close?.()));
}
