import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../base/log.ts';
import { createBacklog } from '../../jobs/backlog.ts';
import type { PutVectors, TextToEmbed, VectorStore } from '../../storage/contracts/vectors.ts';
import type { EmbeddingProvider } from '../embeddings/embedding-provider.ts';
import { embedPassages } from '../passage-vectors.ts';

/** Makes the missing vectors of one model in the background, so that a write never waits for them. */
export interface BackgroundEmbedding {
  /** False while the provider does not answer. */
  readonly available: boolean;
  /** Call it when there may be something to embed. */
  wake(): void;
  /** These are embedded before others. */
  prefer(owners: readonly number[]): void;
  /**
   * Embeds these first. Resolves when they are done, when the time is up or no progress is made, or at once while the
   * provider is down.
   */
  settled(owners: readonly number[], waitMs: number, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export interface BackgroundEmbeddingDeps {
  readonly vectors: Pick<VectorStore<never>, 'waiting' | 'put' | 'pack'>;
  readonly provider: EmbeddingProvider;
  readonly log: Logger;
  /** Called whenever there is nothing left to embed. */
  readonly onDone?: () => void;
}

type EmbeddedText = PutVectors['texts'][number];

const batchSize = 32;
/** Owners that are embedded before others: whoever asked for more is long gone. */
const wantedMax = 20_000;
/** Total length of a batch: a caller that waits for other texts waits a second at most. */
const batchUnitsMax = 16_000;
/** A text that takes longer than this may take minutes, so nobody waits for it. */
const stallMs = 5_000;

/** From this many texts with new vectors on, packing pays. */
export const packedMin = 4_000;

export function createBackgroundEmbedding(deps: BackgroundEmbeddingDeps): BackgroundEmbedding {
  const { vectors, provider, log } = deps;
  const model = provider.name;
  let unpacked = 0;
  /** Owners that a caller waits for, the latest first. */
  let wanted = new Set<number>();
  let step = Promise.withResolvers<void>();
  /** The provider, not the database: that one is busy now and then, and what it fails at is done again. */
  let isAway = false;
  const backlog = createBacklog({
    async doSome(signal) {
      const owners = [...wanted].slice(0, batchSize);
      const waiting = await vectors.waiting({ model, limit: batchSize, ...(owners.length > 0 ? { owners } : {}) });
      const some = atOnce(waiting);
      if (some.length > 0) unpacked += await vectors.put({ model, texts: await embedTexts(some, signal) });
      const left = new Set(waiting.slice(some.length).map(({ owner }) => owner));
      for (const owner of owners) if (!left.has(owner)) wanted.delete(owner);
      endStep();
      const isDone = waiting.length === 0 && owners.length === 0;
      if (isDone) {
        deps.onDone?.();
        await packMany(signal);
      }
      return !isDone;
    },
    onFailure(error) {
      log.warn('texts are waiting to be embedded', { model, reason: reasonOf(error) });
      endStep();
    },
  });
  return {
    get available() {
      return !isAway;
    },
    wake: () => backlog.wake(),
    prefer,
    async settled(owners, waitMs, signal) {
      prefer(owners);
      const waited = new AbortController();
      const over = delay(waitMs, undefined, { signal: AbortSignal.any([signal, waited.signal]), ref: false });
      const end = over.catch(() => {}).then(() => waited.abort());
      while (!waited.signal.aborted && !isAway && owners.some((owner) => wanted.has(owner))) {
        const current = step;
        const stalled = delay(stallMs, undefined, { signal: waited.signal, ref: false }).catch(() => {});
        await Promise.race([current.promise, end, stalled]);
        if (step === current) break;
      }
      waited.abort();
    },
    close: () => backlog.close(),
  };

  function prefer(owners: readonly number[]): void {
    wanted = new Set([...owners, ...wanted].slice(0, wantedMax));
    backlog.wake();
  }

  /** Packed vectors save the next process that searches from reading them one by one. */
  async function packMany(signal: AbortSignal): Promise<void> {
    if (unpacked < packedMin) return;
    unpacked = 0;
    // Unpacked vectors can be searched as well.
    await vectors.pack(model, { signal }).catch(() => {});
  }

  function endStep(): void {
    step.resolve();
    step = Promise.withResolvers();
  }

  async function embedTexts(waiting: readonly TextToEmbed[], signal: AbortSignal): Promise<EmbeddedText[]> {
    try {
      const windows = await embedPassages(waiting, provider, { signal });
      isAway = false;
      return waiting.map(({ owner, textHash }, place) => ({ owner, textHash, windows: windows[place] ?? [] }));
    } catch (error) {
      // Either nothing can be embedded now, and this throws too, or one of the texts is at fault.
      await provider.embed(['.'], { signal }).catch((away) => {
        isAway = !signal.aborted;
        throw away;
      });
      const [only, ...others] = waiting;
      if (only === undefined || others.length > 0) return inTurn(waiting, signal);
      log.warn('a text cannot be embedded and will be found by words only', {
        owner: only.owner,
        reason: reasonOf(error),
      });
      return [{ owner: only.owner, textHash: only.textHash, windows: [] }];
    }
  }

  async function inTurn(waiting: readonly TextToEmbed[], signal: AbortSignal): Promise<EmbeddedText[]> {
    const embedded: EmbeddedText[] = [];
    for (const each of waiting) embedded.push(...(await embedTexts([each], signal)));
    return embedded;
  }
}

/** As many of the first texts as fit a batch, and at least one. */
function atOnce(texts: readonly TextToEmbed[]): readonly TextToEmbed[] {
  let units = 0;
  const tooMany = texts.findIndex(({ text }, place) => {
    units += text.length;
    return place > 0 && units > batchUnitsMax;
  });
  return tooMany === -1 ? texts : texts.slice(0, tooMany);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : '';
}
