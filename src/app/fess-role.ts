import { CarrelError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { Config } from '../config/load.ts';
import { isLoopbackHost } from '../http/guards.ts';
import type { CallJobs } from '../jobs/call-jobs.ts';
import { fessRevision } from '../mcp/protocol-versions.ts';
import type { Toolset } from '../tools/toolset.ts';
import { fessSlice } from '../toolsets/fess/fess-slice.ts';
import { type FessConfig, findFessConfig } from '../toolsets/fess/read-fess-config.ts';
import { ownTargets } from './http-settings.ts';
import type { Flags, Role } from './role.ts';

/** `carrel fess`: a bridge to a Fess search server, with its own configuration file. */
export const fessRole: Role = {
  name: 'fess',
  instructions:
    "Searches and reads the documents of one or more knowledge domains in a Fess server. Each tool's name and description say which domain it serves. Search first, then read the documents that matter; a long call answers with a jobId for job_get.",
  slices: [],
  overrides: { 'http.port': { default: 0, env: [] } },
  revisions: fessRevision,
  async prepare(flags, env) {
    const configFlag = flags['config'];
    const bridge = await loadBridge();
    return roleOf(bridge.readFessConfig(env, typeof configFlag === 'string' ? configFlag : undefined), flags, bridge);
  },
  async openToolsets() {
    throw new CarrelError('internal', 'The fess role was opened before its configuration was read.');
  },
};

/** Opens the Fess tools for `carrel serve`, if configured. With an invalid configuration file, the server does not start. */
export async function openFessForServe({ config, log, jobs }: FessContext): Promise<Toolset | undefined> {
  const { configFile, accessToken } = config.of(fessSlice);
  const file = configFile ?? findFessConfig(process.env);
  if (file === undefined) return undefined;
  const bridge = await loadBridge();
  const stored = bridge.readFessConfig(process.env, file);
  const fess = accessToken === undefined ? stored : { ...stored, fessAccessToken: accessToken };
  for (const warning of fess.warnings) log.warn(warning);
  return bridge.createFessToolset(fess, { jobs, log, ownTargets: ownTargets(config) });
}

interface FessContext {
  config: Config;
  log: Logger;
  jobs: CallJobs;
}

type Bridge = Awaited<ReturnType<typeof loadBridge>>;

/** Loads the code on demand, because most servers have no Fess. */
async function loadBridge() {
  const [{ readFessConfig }, { openFessLog }, { createFessToolset }] = await Promise.all([
    import('../toolsets/fess/read-fess-config.ts'),
    import('../toolsets/fess/fess-log.ts'),
    import('../toolsets/fess/toolset.ts'),
  ]);
  return { readFessConfig, openFessLog, createFessToolset };
}

function roleOf(fess: FessConfig, flags: Flags, bridge: Bridge): Role {
  const { httpTransport, security, limits } = fess;
  const host = typeof flags['host'] === 'string' ? flags['host'] : httpTransport.bindAddress;
  if (!isLoopbackHost(host) && !fess.allowsOtherHosts) throw notLoopback(fess, host);
  return {
    ...fessRole,
    overrides: {
      'http.host': { default: httpTransport.bindAddress, env: [] },
      'http.port': { default: httpTransport.port, env: [] },
      'http.path': { default: httpTransport.path, env: [] },
      'http.authToken': { default: security.httpAuthToken, env: [] },
      // So high that the toolset's own limit is reached first.
      'tools.inFlightMax': { default: Math.max(64, limits.maxInFlightRequests * 16), env: [] },
    },
    streams: httpTransport.enableSse,
    warnings: fess.warnings,
    openLog: (debug) => bridge.openFessLog(fess, debug),
    openToolsets: async (config, log, jobs) => [
      bridge.createFessToolset(fess, { jobs, log, ownTargets: ownTargets(config) }),
    ],
  };
}

function notLoopback({ file }: FessConfig, host: string): CarrelError {
  return new CarrelError(
    'invalid_config',
    `${file}: httpTransport.bindAddress ${JSON.stringify(host)} is not loopback, and binding to other addresses is disabled. Set security.allowNonLocalhostBind to true to allow it, or use 127.0.0.1.`,
  );
}
