import type { Logger } from '../base/log.ts';
import type { Config } from '../config/load.ts';
import { engineSlice } from '../engine/engine-slice.ts';
import type { LocalEngine } from '../engine/local/create-engine.ts';
import { embeddingSlice } from '../search/embeddings/embedding-slice.ts';
import { storageSlice } from '../storage/storage-slice.ts';
import type { SharedParts } from './shared-parts.ts';

export const engineSlices = [storageSlice, embeddingSlice, engineSlice] as const;

export interface EngineContext {
  readonly config: Config;
  readonly log: Logger;
  readonly shared: SharedParts;
}

/** The engine of this process. Storage and model are shared with other parts; its extractors may take longer than theirs. */
export async function openLocalEngine({ config, log, shared }: EngineContext): Promise<LocalEngine> {
  const settings = config.of(engineSlice);
  const [storage, embeddings, { createEngine }, { createExtractor }] = await Promise.all([
    shared.storage(),
    config.of(embeddingSlice).provider === 'none' ? undefined : shared.embeddings(),
    import('../engine/local/create-engine.ts'),
    import('../documents/extractor.ts'),
  ]);
  const extractor = createExtractor({
    cpuMsMax: settings.extractCpuMs,
    memoryMb: settings.extractMemoryMb,
    workersMax: settings.workers,
    bytesMax: settings.fileBytesMax,
    textCharsMax: settings.textCharsMax,
    ocrLanguages: settings.ocrLanguages,
  });
  const close = async (): Promise<void> => {
    await Promise.all([storage.release(), embeddings?.release(), extractor.close()]);
  };
  return createEngine(settings, {
    storage: storage.part,
    extractor,
    embeddings: embeddings?.part,
    formerEmbeddings: shared.formerEmbeddings,
    log,
    close,
  });
}
