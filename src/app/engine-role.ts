import { CarrelError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { Config } from '../config/load.ts';
import { httpSlice, toolsSlice } from '../config/slices.ts';
import { engineSlice } from '../engine/engine-slice.ts';
import { measureEngine } from '../engine/measure-engine.ts';
import type { Telemetry } from '../telemetry/open-telemetry.ts';
import { databaseSources } from './database-sources.ts';
import { listenLimitsOf } from './http-settings.ts';
import { openAuthorities } from './open-authorities.ts';
import { localEngineSlices, openLocalEngine } from './open-engine.ts';
import { openWebSources } from './open-web-sources.ts';
import type { Role, RoleService } from './role.ts';
import { createSharedServices } from './shared-services.ts';

/** `carrel engine`: the knowledge base with its own HTTP API, without MCP. */
export const engineRole: Role = {
  name: 'engine',
  instructions: '',
  slices: localEngineSlices,
  overrides: {
    'http.transport': { default: 'http', env: [] },
    'http.host': { env: ['KB_HOST', 'CARREL_HOST'] },
    'http.port': { default: 8000, env: ['KB_PORT', 'CARREL_PORT'] },
    'http.path': { default: '/api/v1', env: [] },
    'http.allowedHosts': { env: ['KB_ALLOWED_HOSTS', 'CARREL_ALLOWED_HOSTS'] },
    'http.authToken': { env: ['KB_API_KEY', 'CARREL_AUTH_TOKEN'] },
  },
  dataDirVariables: ['KB_DATA_DIR', 'CARREL_HOME'],
  check(config) {
    if (config.of(httpSlice).transport === 'http') return;
    throw new CarrelError('invalid_usage', 'carrel engine speaks HTTP only. Remove --transport.');
  },
  serve: serveEngineRole,
  openToolsets: async () => [],
};

async function serveEngineRole(config: Config, log: Logger, telemetry: Telemetry): Promise<RoleService> {
  const http = config.of(httpSlice);
  const { serveEngine } = await import('../engine/http/serve-engine.ts');
  // Listens first, so that health checks can report that the engine is starting.
  const shared = createSharedServices(config, log, telemetry.recorder);
  const { authorities, close: closeAuthorities } = await openAuthorities(engineRole, config, log, shared);
  const service = await serveEngine({
    ...http,
    authorities,
    tokens: http.authToken ? { default: http.authToken } : {},
    fileBytesMax: config.of(engineSlice).fileBytesMax,
    answerBytesMax: config.of(toolsSlice).answerBytesMax,
    roles: config.of(engineSlice).roles,
    readOnly: config.of(toolsSlice).readOnly,
    listenLimits: listenLimitsOf(http),
    log,
    metrics: telemetry.prometheus,
    recorder: telemetry.recorder,
  }).catch(async (error: unknown) => {
    await closeAuthorities();
    throw error;
  });
  try {
    const engine = await openLocalEngine({ config, log, shared });
    const web = await openWebSources({ config, log, shared }, engine);
    service.ready(engine);
    const sources = [
      { name: 'kb', measure: () => measureEngine(engine, { isRemote: false }) },
      ...databaseSources(config, shared),
    ];
    telemetry.watch({ sources, gauges: service });
    return {
      url: service.url,
      async close(graceMs) {
        await service.close(graceMs);
        await web.close();
        await engine.close();
        await closeAuthorities();
      },
    };
  } catch (error) {
    await service.close(0);
    await closeAuthorities();
    throw error;
  }
}
