import { daysBefore } from '../../base/days-before.ts';
import type { Logger } from '../../base/log.ts';
import type { Storage } from '../../storage/storage.ts';
import type { EngineSettings } from '../engine-slice.ts';

const pruneEveryMs = 3_600_000;
/** Max rows removed per transaction, so that other writes can run in between. */
const batchSize = 5_000;

interface DeletedStores {
  readonly documents: Pick<Storage['documents'], 'pruneDeleted'>;
  readonly originals: Pick<Storage['originals'], 'release'>;
}

export async function pruneDeleted(
  { deletedBytesMax }: Pick<EngineSettings, 'deletedBytesMax'>,
  { documents, originals }: DeletedStores,
): Promise<void> {
  for (let removed = batchSize; removed === batchSize; ) {
    const contents = await documents.pruneDeleted({ bytesMax: deletedBytesMax, limit: batchSize });
    if (contents.length > 0) await originals.release(contents);
    removed = contents.length;
  }
}

/** Removes old finished jobs and deleted documents, now and every hour. `close` waits for a running removal. */
export function startPruning(
  settings: Pick<EngineSettings, 'jobsKeptDays' | 'jobsKeptMax' | 'deletedBytesMax'>,
  storage: DeletedStores & { readonly ingestion: Pick<Storage['ingestion'], 'forget'> },
  log: Logger,
): { close(): Promise<void> } {
  const { jobsKeptDays, jobsKeptMax } = settings;
  let isClosed = false;
  let running = prune();
  const timer = setInterval(() => {
    running = running.then(prune);
  }, pruneEveryMs).unref();

  return {
    async close() {
      isClosed = true;
      clearInterval(timer);
      await running;
    },
  };

  async function prune(): Promise<void> {
    try {
      const before = daysBefore(new Date().toISOString(), jobsKeptDays);
      for (let removed = batchSize; removed === batchSize && !isClosed; ) {
        removed = await storage.ingestion.forget({ before, keptMax: jobsKeptMax, limit: batchSize });
      }
      if (!isClosed) await pruneDeleted(settings, storage);
    } catch (error) {
      log.warn('could not remove old jobs and deleted documents', {
        reason: error instanceof Error ? error.message : '',
      });
    }
  }
}
