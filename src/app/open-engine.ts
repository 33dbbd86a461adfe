import type { Logger } from '../base/log.ts';
import type { Config } from '../config/load.ts';
import { crawlSlice } from '../crawl/crawl-slice.ts';
import type { Engine } from '../engine/engine.ts';
import { engineRoles, engineSlice } from '../engine/engine-slice.ts';
import type { LocalEngine } from '../engine/local/submit.ts';
import { embeddingSlice } from '../search/models/embedding-slice.ts';
import { rerankingSlice } from '../search/rerank/reranking-slice.ts';
import { storageSlice } from '../storage/storage-slice.ts';
import { kbSlice } from '../toolsets/kb/kb-slice.ts';
import { type SharedServices, withServices } from './shared-services.ts';

export const localEngineSlices = [storageSlice, embeddingSlice, rerankingSlice, engineSlice, crawlSlice] as const;
export const engineSlices = [...localEngineSlices, kbSlice] as const;

export interface EngineContext {
  readonly config: Config;
  readonly log: Logger;
  readonly shared: SharedServices;
}

/** Opens the engine at KB_ENGINE_URL or, if that is not set, one in this process. */
export async function openEngine(context: EngineContext): Promise<Engine> {
  return (await openRemoteEngine(context.config)) ?? openLocalEngine(context);
}

export function isLocalEngine(engine: Engine): engine is LocalEngine {
  return 'submitStreamed' in engine;
}

/** Opens the engine at KB_ENGINE_URL; undefined if that is not set. */
export async function openRemoteEngine(config: Config, timeoutMs?: number): Promise<Engine | undefined> {
  const { engineUrl, apiKey, engineTimeoutMs } = config.of(kbSlice);
  if (engineUrl === undefined) return undefined;
  const { createRemoteEngine } = await import('../engine/remote/create-remote-engine.ts');
  return createRemoteEngine({ engineUrl, apiKey, timeoutMs: timeoutMs ?? engineTimeoutMs });
}

/** Warns if roles are omitted with SQLite: their work is done only if another process uses the same file. */
function warnOfMissingRoles(config: Config, log: Logger): void {
  const { roles } = config.of(engineSlice);
  const missing = engineRoles.filter((role) => role !== 'search' && !roles.includes(role));
  if (missing.length === 0 || config.of(storageSlice).backend !== 'sqlite') return;
  log.warn(`this process will not ${missing.join(' or ')}; other processes on the same SQLite file must (KB_ROLES)`);
}

/** Opens an engine in this process. It shares storage and models with the toolsets, but its own extractor has higher limits. */
export function openLocalEngine({ config, log, shared }: EngineContext): Promise<LocalEngine> {
  return withServices(shared, async (services, release) => {
    const settings = config.of(engineSlice);
    warnOfMissingRoles(config, log);
    const [storage, embeddings, reranker, { createEngine }, { createExtractor }] = await Promise.all([
      services.storage(),
      config.of(embeddingSlice).provider === 'none' ? undefined : services.embeddings(),
      services.reranker(),
      import('../engine/local/create-engine.ts'),
      import('../documents/extractor.ts'),
    ]);
    const extractor = createExtractor({
      cpuMsMax: settings.extractCpuMs,
      memoryMb: settings.extractMemoryMb,
      // The extra worker is for small files that may overtake slow ones.
      workersMax: settings.workers + 1,
      bytesMax: settings.fileBytesMax,
      textCharsMax: settings.textCharsMax,
      ocrLanguages: settings.ocrLanguages,
    });
    const close = async (): Promise<void> => {
      await Promise.all([release(), extractor.close()]);
    };
    return createEngine(settings, {
      storage,
      extractor,
      embeddings,
      reranker,
      previousEmbeddings: shared.previousEmbeddings,
      log,
      close,
    });
  });
}
