import type { Logger } from '../../base/log.ts';
import { createBacklog } from '../../jobs/backlog.ts';
import type { PutVectors, TextToEmbed, VectorStore } from '../../storage/vectors.ts';
import type { EmbeddingProvider } from '../embeddings/embedding-provider.ts';
import { embedPassages } from '../passage-vectors.ts';

/** Makes the vectors of one model that are missing, in the background: a write never waits for them. */
export interface BackgroundEmbedding {
  /** False while the provider does not answer. */
  readonly available: boolean;
  /** There may be something to embed. */
  wake(): void;
  /** Resolves when nothing waits any more, or after a moment, or at once while the provider is away. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export interface BackgroundEmbeddingDeps {
  readonly vectors: Pick<VectorStore<never>, 'waiting' | 'put' | 'pack'>;
  readonly provider: EmbeddingProvider;
  readonly log: Logger;
  /** Called whenever nothing waits any more. */
  readonly onDone?: () => void;
}

type EmbeddedText = PutVectors['texts'][number];

const batchSize = 32;
const settleMs = 3_000;

/** So many texts with new vectors are worth being packed. */
export const packedMin = 4_000;

export function createBackgroundEmbedding(deps: BackgroundEmbeddingDeps): BackgroundEmbedding {
  const { vectors, provider, log } = deps;
  const model = provider.name;
  let unpacked = 0;
  const backlog = createBacklog({
    async doSome(signal) {
      const waiting = await vectors.waiting({ model, limit: batchSize });
      if (waiting.length > 0) {
        unpacked += await vectors.put({ model, texts: await embedTexts(waiting, signal) });
      } else {
        deps.onDone?.();
        await packMany(signal);
      }
      return waiting.length > 0;
    },
    onFailure: (error) => log.warn('texts wait to be embedded', { model, reason: reasonOf(error) }),
  });
  return {
    get available() {
      return backlog.available;
    },
    wake: () => backlog.wake(),
    async settled() {
      backlog.wake();
      await backlog.settled(settleMs);
    },
    close: () => backlog.close(),
  };

  /** What is packed need not be read one by one by the next process that searches. */
  async function packMany(signal: AbortSignal): Promise<void> {
    if (unpacked < packedMin) return;
    unpacked = 0;
    // A search reads them all the same.
    await vectors.pack(model, { signal }).catch(() => {});
  }

  async function embedTexts(waiting: readonly TextToEmbed[], signal: AbortSignal): Promise<EmbeddedText[]> {
    try {
      const windows = await embedPassages(waiting, provider, { signal });
      return waiting.map(({ owner, textHash }, place) => ({ owner, textHash, windows: windows[place] ?? [] }));
    } catch (error) {
      // Either nothing can be embedded now, and this throws too, or one of the texts cannot be.
      await provider.embed(['.'], { signal });
      const [only, ...others] = waiting;
      if (only === undefined || others.length > 0) return inTurn(waiting, signal);
      log.warn('a text cannot be embedded and is found by words only', { owner: only.owner, reason: reasonOf(error) });
      return [{ owner: only.owner, textHash: only.textHash, windows: [] }];
    }
  }

  async function inTurn(waiting: readonly TextToEmbed[], signal: AbortSignal): Promise<EmbeddedText[]> {
    const embedded: EmbeddedText[] = [];
    for (const each of waiting) embedded.push(...(await embedTexts([each], signal)));
    return embedded;
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : '';
}
