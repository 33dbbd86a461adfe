import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../base/log.ts';
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
  readonly vectors: Pick<VectorStore<never>, 'waiting' | 'put'>;
  readonly provider: EmbeddingProvider;
  readonly log: Logger;
  /** Called whenever nothing waits any more. */
  readonly onDone?: () => void;
}

type EmbeddedText = PutVectors['texts'][number];

const batchSize = 32;
const settleMs = 3_000;
const retryMinMs = 1_000;
const retryMaxMs = 60_000;

export function createBackgroundEmbedding(deps: BackgroundEmbeddingDeps): BackgroundEmbedding {
  const { vectors, provider, log } = deps;
  const model = provider.name;
  const stop = new AbortController();
  let available = true;
  let retryMs = retryMinMs;
  let running: Promise<void> | undefined;
  let again = false;

  return {
    get available() {
      return available;
    },
    wake,
    async settled() {
      wake();
      // Without a provider there is nothing to wait for.
      if (available) await Promise.race([running, delay(settleMs, undefined, { ref: false })]);
    },
    async close() {
      stop.abort();
      await running;
    },
  };

  function wake(): void {
    if (stop.signal.aborted) return;
    if (running !== undefined) {
      again = true;
      return;
    }
    again = false;
    running = embedAll().finally(() => {
      running = undefined;
      if (again) wake();
    });
  }

  /** Until nothing waits. A provider that fails is asked again later, and less often each time. */
  async function embedAll(): Promise<void> {
    while (!stop.signal.aborted) {
      try {
        if (!(await embedSome())) {
          deps.onDone?.();
          return;
        }
        available = true;
        retryMs = retryMinMs;
      } catch (error) {
        if (stop.signal.aborted) return;
        if (available) log.warn('texts wait to be embedded', { model, reason: reasonOf(error) });
        available = false;
        await delay(retryMs, undefined, { signal: stop.signal, ref: false }).catch(() => {});
        retryMs = Math.min(retryMaxMs, retryMs * 2);
      }
    }
  }

  async function embedSome(): Promise<boolean> {
    const waiting = await vectors.waiting({ model, limit: batchSize });
    if (waiting.length === 0) return false;
    await vectors.put({ model, texts: await embedTexts(waiting) });
    return true;
  }

  async function embedTexts(waiting: readonly TextToEmbed[]): Promise<EmbeddedText[]> {
    try {
      const windows = await embedPassages(waiting, provider, { signal: stop.signal });
      return waiting.map(({ owner, textHash }, place) => ({ owner, textHash, windows: windows[place] ?? [] }));
    } catch (error) {
      // Either nothing can be embedded now, and this throws too, or one of the texts cannot be.
      await provider.embed(['.'], { signal: stop.signal });
      const [only, ...others] = waiting;
      if (only === undefined || others.length > 0) return inTurn(waiting);
      log.warn('a text cannot be embedded and is found by words only', { owner: only.owner, reason: reasonOf(error) });
      return [{ owner: only.owner, textHash: only.textHash, windows: [] }];
    }
  }

  async function inTurn(waiting: readonly TextToEmbed[]): Promise<EmbeddedText[]> {
    const embedded: EmbeddedText[] = [];
    for (const each of waiting) embedded.push(...(await embedTexts([each])));
    return embedded;
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : '';
}
