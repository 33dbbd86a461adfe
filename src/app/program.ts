import { join } from 'node:path';
import { oauthSlice } from '../access/oauth/oauth-slice.ts';
import { CarrelError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { version } from '../base/package-info.ts';
import { type Config, type EnvFileSource, loadConfig } from '../config/load.ts';
import { httpSlice, logSlice, sharingSlice, toolsSlice } from '../config/slices.ts';
import type { ConsoleDeps } from '../console/console.ts';
import { isLoopbackHost } from '../http/guards.ts';
import { createCallJobs } from '../jobs/call-jobs.ts';
import { createTasks } from '../jobs/tasks.ts';
import { embeddingSlice } from '../search/models/embedding-slice.ts';
import type { Ownership } from '../sharing/share-process.ts';
import type { Telemetry } from '../telemetry/open-telemetry.ts';
import { telemetrySlice } from '../telemetry/telemetry-slice.ts';
import { leaveFolder } from './leave-folder.ts';
import { hasNamedTokens, readOAuth } from './open-authorities.ts';
import { openSharedStore } from './open-shared-store.ts';
import { openProgramLog } from './program-log.ts';
import { type Flags, type Program, type Role, type RoleService, revisionsOf, stopGraceMs } from './role.ts';
import { createSharedServices } from './shared-services.ts';
import { closeToolsets, serveSlices } from './toolsets.ts';

/** Settings that every role has. */
export const programSlices = [httpSlice, oauthSlice, toolsSlice, sharingSlice, logSlice, telemetrySlice] as const;

/** Completes a role that has its own configuration file. */
export async function prepareRole(role: Role, flags: Flags, env: NodeJS.ProcessEnv = process.env): Promise<Role> {
  return (await role.prepare?.(flags, env)) ?? role;
}

export function loadRoleConfig(role: Role, flags: Flags, env: NodeJS.ProcessEnv = process.env): Config {
  const config = loadRoleConfigWith(undefined, role, flags, env);
  // On stdio, the client chooses the current folder, so its .env file is not read.
  if (role.envFile === undefined || config.of(httpSlice).transport !== 'http') return config;
  return loadRoleConfigWith({ folder: process.cwd(), variables: role.envFile }, role, flags, env);
}

function loadRoleConfigWith(
  envFile: EnvFileSource | undefined,
  role: Role,
  flags: Flags,
  env: NodeJS.ProcessEnv,
): Config {
  return loadConfig({
    slices: [...programSlices, ...role.slices],
    flags,
    env,
    overrides: role.overrides,
    readsFile: role.prepare === undefined,
    otherSections: serveSlices.map(({ name }) => name),
    ...(envFile ? { envFile } : {}),
    ...(role.dataDirVariables ? { dataDirVariables: role.dataDirVariables } : {}),
  });
}

export interface ProgramOptions {
  /** Client configuration snippets for the console. */
  snippets?: ConsoleDeps['snippets'];
  /** Set if this process serves several stdio clients through relays, and not over its own stdin and stdout. */
  ownership?: Ownership | undefined;
  /** A key for the data and settings. This process may answer commands with the same key. */
  commandKey?: string | undefined;
  /** A line to log at start. */
  remark?: string | undefined;
}

export async function startProgram(baseRole: Role, flags: Flags, options: ProgramOptions = {}): Promise<Program> {
  const { ownership, remark, snippets } = options;
  const role = await prepareRole(baseRole, flags);
  const config = loadRoleConfig(role, flags);
  role.check?.(config);
  const logging = openProgramLog(role, config, flags['debug'] === true, ownership?.userOutput.print);
  const { log } = logging;
  for (const warning of [...config.warnings, ...(role.warnings ?? [])]) log.warn(warning);
  if (remark !== undefined) log.info(remark);
  await checkExposure(role, config, log);
  warnOfShortToken(config, log);
  // Files that libraries create must also be private to this user.
  process.umask(0o077);
  warnOfSlowModel(role, config, log);
  if (role.serve) {
    const program = await serveWithoutMcp(role.serve, config, log, await startTelemetry(role, config, log));
    leaveFolder(config);
    return program;
  }
  const telemetry = await telemetryIfUsed(role, config, log);
  const services = createSharedServices(config, log, telemetry?.recorder);
  const openingStore = openSharedStore(role, config, services);
  const jobs = createCallJobs({ shared: async () => (await openingStore).store });
  const openingToolsets = role.openToolsets(config, log, jobs, services);
  // The protocol code loads while the database opens on another thread.
  const [toolsets, { createRoleFeatures, serveFeatures }, sharedStore] = await Promise.all([
    openingToolsets,
    loadProtocol(),
    openingStore,
  ]);
  try {
    const shared = sharedStore.store;
    const tasks = revisionsOf(role).modern
      ? createTasks({ folder: join(config.dataDir, 'tasks'), shared, log })
      : undefined;
    const recorder = telemetry?.recorder;
    const features = createRoleFeatures(role, config, log, toolsets, { jobs, tasks, recorder, shared });
    const program = await serveFeatures({
      role,
      config,
      features,
      logging,
      telemetry,
      services,
      sharedStore,
      ownership,
      commandKey: options.commandKey,
      cody: flags['cody'] === true,
      snippets,
    });
    if (ownership === undefined) leaveFolder(config);
    log.info('started', { version, node: process.version, toolsets: toolsets.map(({ name }) => name).join(',') });
    return program;
  } catch (error) {
    await closeToolsets(toolsets);
    await Promise.all([telemetry?.close(), sharedStore.close()]);
    throw error;
  }
}

/** Serves a role that does not speak MCP. */
async function serveWithoutMcp(
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
  const [{ createRoleFeatures }, { serveFeatures }] = await Promise.all([
    import('./role-features.ts'),
    import('./serve-features.ts'),
  ]);
  return { createRoleFeatures, serveFeatures };
}

/** Starts telemetry only if someone can read it: over HTTP, or through an export. */
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
  if (typeof target === 'string') log.warn(`OpenTelemetry export is off: ${target}`);
  return openTelemetry(role.name, typeof target === 'string' ? undefined : target, { log });
}

/** Refuses to listen beyond loopback without a token, or warns, depending on the role. */
async function checkExposure(role: Role, config: Config, log: Logger): Promise<void> {
  const { transport, host, authToken } = config.of(httpSlice);
  if (transport === 'stdio' || isLoopbackHost(host) || authToken !== undefined) return;
  if (readOAuth(config) !== undefined || (await hasNamedTokens(role, config, log))) return;
  if (role.tokenBeyondLoopback) {
    throw new CarrelError(
      'invalid_config',
      `Listening on ${host} would give others access to everything. Set a token (carrel token add, CARREL_AUTH_TOKEN or http.authToken in the configuration file), or listen on 127.0.0.1.`,
    );
  }
  // Avoids the words "listening on": programs wait for the line that contains them.
  log.warn(`WARNING: ${host} is open to others without a token: anyone who can reach it can use the server`);
}

/** Max characters of a token that counts as short: it could be guessed despite rate limiting. */
const shortTokenChars = 15;

function warnOfShortToken(config: Config, log: Logger): void {
  const { transport, authToken } = config.of(httpSlice);
  if (transport === 'stdio' || authToken === undefined || authToken.reveal().length > shortTokenChars) return;
  log.warn(
    'WARNING: the token has fewer than 16 characters and can be guessed. Run carrel token add, or set a longer one',
  );
}

/** Delay of the check, so that it doesn't slow down the first answers. */
const warnAfterMs = 500;

function warnOfSlowModel(role: Role, config: Config, log: Logger): void {
  if (!role.slices.includes(embeddingSlice) || config.of(embeddingSlice).provider !== 'local') return;
  const warn = async (): Promise<void> => {
    const { missingRuntimeRemedy } = await import('../search/models/native-runtime.ts');
    const remedy = missingRuntimeRemedy();
    if (remedy === undefined) return;
    log.warn(`the model runs in WebAssembly, about seven times slower: onnxruntime-node is missing. Run ${remedy}`);
  };
  setTimeout(() => void warn(), warnAfterMs).unref();
}
