import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../base/log.ts';
import type { EmbeddingProvider } from '../../search/embeddings/embedding-provider.ts';
import { embedPassages } from '../../search/passage-vectors.ts';
import type { EntryStore, TextToEmbed, VectorsRequest } from '../../storage/entries.ts';
import { createMeaningIndex, type MeaningMatch } from './meaning-index.ts';

/** Search by meaning over the entries. Vectors are made in the background; a write never waits for them. */
export interface EntryMeaning {
  readonly model: string;
  readonly dimensions: number | undefined;
  /** False while the provider does not answer. */
  readonly available: boolean;
  /** There is something to embed. */
  wake(): void;
  /**
   * The nearest entries, each once, by its nearest part. `allowed` are the entries that may be found; all, if undefined.
   * Waits a moment for entries that are just being embedded; `pending` tells how many were not found for that reason.
   */
  search(request: MeaningRequest): Promise<{ matches: MeaningMatch[]; pending: number }>;
  close(): Promise<void>;
}

export interface MeaningRequest {
  readonly text: string;
  readonly limit: number;
  readonly allowed: ReadonlySet<number> | undefined;
  readonly signal: AbortSignal;
}

export interface EntryMeaningDeps {
  readonly entries: EntryStore;
  readonly provider: EmbeddingProvider;
  readonly log: Logger;
}

const batchSize = 16;
const freshWaitMs = 3_000;
const retryMinMs = 1_000;
const retryMaxMs = 60_000;

export function createEntryMeaning({ entries, provider, log }: EntryMeaningDeps): EntryMeaning {
  const model = provider.name;
  const index = createMeaningIndex({ entries, model });
  const stop = new AbortController();
  let available = true;
  let retryMs = retryMinMs;
  let running: Promise<void> | undefined;
  let again = false;

  return {
    model,
    get dimensions() {
      return provider.dimensions;
    },
    get available() {
      return available;
    },
    wake,
    async search({ text, limit, allowed, signal }) {
      const [query] = await provider.embed([text], { purpose: 'query', signal });
      if (query === undefined) return { matches: [], pending: 0 };
      const pending = await settle(signal);
      return { matches: await index.search(query, { limit, allowed, signal }), pending };
    },
    async close() {
      stop.abort();
      await running;
      await index.close();
    },
  };

  function wake(): void {
    if (running !== undefined) {
      again = true;
      return;
    }
    again = false;
    running = embedAll().finally(() => {
      running = undefined;
      if (again && !stop.signal.aborted) wake();
    });
  }

  /** Until nothing waits. A provider that fails is asked again later, and less often each time. */
  async function embedAll(): Promise<void> {
    while (!stop.signal.aborted) {
      try {
        if (!(await embedSome())) return;
        available = true;
        retryMs = retryMinMs;
      } catch (error) {
        if (stop.signal.aborted) return;
        if (available) log.warn('entries wait to be embedded', { reason: reasonOf(error) });
        available = false;
        await delay(retryMs, undefined, { signal: stop.signal, ref: false }).catch(() => {});
        retryMs = Math.min(retryMaxMs, retryMs * 2);
      }
    }
  }

  async function embedSome(): Promise<boolean> {
    const waiting = await entries.unembedded({ model, limit: batchSize });
    if (waiting.length === 0) return false;
    await entries.putVectors({ model, entries: await embedTexts(waiting) });
    return true;
  }

  async function embedTexts(waiting: readonly TextToEmbed[]): Promise<VectorsRequest['entries'][number][]> {
    const passages = waiting.map(({ text, before }) => (before === undefined ? { text } : { text, before }));
    try {
      const vectors = await embedPassages(passages, provider, { signal: stop.signal });
      return waiting.map(({ id, textHash }, place) => ({ id, textHash, windows: vectors[place] ?? [] }));
    } catch (error) {
      // Either nothing can be embedded now, and this throws too, or one of the texts cannot be.
      await provider.embed(['.'], { signal: stop.signal });
      const [only, ...others] = waiting;
      if (only === undefined || others.length > 0) return (await inTurn(waiting)).flat();
      log.warn('an entry cannot be embedded and is found by words only', { id: only.id, reason: reasonOf(error) });
      return [{ id: only.id, textHash: only.textHash, windows: [] }];
    }
  }

  async function inTurn(waiting: readonly TextToEmbed[]) {
    const embedded: VectorsRequest['entries'][number][][] = [];
    for (const each of waiting) embedded.push(await embedTexts([each]));
    return embedded;
  }

  async function settle(signal: AbortSignal): Promise<number> {
    const { pending } = await entries.vectorState({ model }, { signal });
    if (pending === 0) return 0;
    wake();
    // Without a provider there is nothing to wait for.
    if (available) await Promise.race([running, delay(freshWaitMs, undefined, { ref: false })]);
    return (await entries.vectorState({ model }, { signal })).pending;
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : '';
}
