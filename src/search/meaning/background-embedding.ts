import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../base/log.ts';
import { createBacklog } from '../../jobs/backlog.ts';
import type { PutVectors, TextToEmbed } from '../../storage/vectors/vector.ts';
import type { VectorStore } from '../../storage/vectors/vector-store.ts';
import type { EmbeddingProvider } from '../models/embedding-provider.ts';
import { embedPassages } from './passage-vectors.ts';

/**
 * Creates a model's missing vectors in the background. Each process on the database leases a batch of texts at a time. The
 * owner of a text is the entry or passage that it belongs to.
 */
export interface BackgroundEmbedding {
  /** False while the embedding provider does not answer. */
  readonly available: boolean;
  /** Call when there may be something to embed. */
  wake(): void;
  /** Embeds these owners' texts first. */
  prefer(owners: readonly number[]): void;
  /** Embeds these owners' texts first, and waits for them. Gives up after `waitMs`, or earlier if there is no progress. */
  whenEmbedded(owners: readonly number[], waitMs: number, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export interface BackgroundEmbeddingDeps {
  readonly vectors: Pick<VectorStore<never>, 'claim' | 'release' | 'put'>;
  readonly provider: EmbeddingProvider;
  readonly log: Logger;
  /** Awaited before texts are leased. */
  readonly ready?: (() => Promise<void>) | undefined;
  /** Called when nothing is left to embed. */
  readonly onDone?: (() => void) | undefined;
}

const batchSize = 32;
/** Duration of a lease, many times that of a batch. If it expires, another process embeds the texts too, which is harmless. */
const leaseMs = 30_000;
/** Max preferred owners. The oldest are dropped: their callers have stopped waiting. */
const preferredMax = 20_000;
/** Max characters per batch, so that preferred texts wait a second at most. */
const batchUnitsMax = 16_000;
/** Callers stop waiting after this long without progress: the text may take minutes. */
const stallMs = 5_000;

/** Poll interval while a caller waits for texts that another process has leased. */
const pollMs = 100;
/** Poll interval while other processes lease all remaining texts. They may have died. */
const leasedPollMs = 2_000;

export function createBackgroundEmbedding(deps: BackgroundEmbeddingDeps): BackgroundEmbedding {
  const { vectors, provider, log } = deps;
  const model = provider.name;
  /** Owners to embed first, latest request first. */
  let preferred = new Set<number>();
  /** The current batch. Resolves at its end, with the preferred owners whose texts other processes have leased. */
  let batchEnd = Promise.withResolvers<readonly number[]>();
  const claimant = randomUUID();
  const release = () => vectors.release({ model, claimant }).catch(() => {});
  let pollTimer: NodeJS.Timeout | undefined;
  /** True while the provider fails. Database failures don't count: they are retried. */
  let isProviderDown = false;
  const backlog = createBacklog({
    async doPart(signal) {
      const next = [...preferred].slice(0, batchSize);
      const { isIdle, leasedElsewhere } = await embedNext(next, signal).catch(async (error: unknown) => {
        // Another process may be able to embed the texts.
        await release();
        throw error;
      });
      endBatch(next.length > 0 ? leasedElsewhere : []);
      if (!isIdle || next.length > 0) return true;
      if (leasedElsewhere.length === 0) deps.onDone?.();
      else pollLater();
      return false;
    },
    onFailure(error) {
      log.warn('embedding failed and will be retried; keyword search still works', { model, reason: reasonOf(error) });
      endBatch([]);
    },
  });
  return {
    get available() {
      return !isProviderDown;
    },
    wake: () => backlog.wake(),
    prefer,
    async whenEmbedded(owners, waitMs, signal) {
      prefer(owners);
      const done = new AbortController();
      const pause = (ms: number) => delay(ms, undefined, { signal: done.signal, ref: false }).catch(() => {});
      const timeout = delay(waitMs, undefined, { signal: AbortSignal.any([signal, done.signal]), ref: false });
      const timedOut = timeout.catch(() => {}).then(() => done.abort());
      const awaited = new Set(owners);
      let leasedElsewhere = new Set<number>();
      let polls = 0;
      let previousCount = owners.length + 1;
      while (!done.signal.aborted && !isProviderDown) {
        if (owners.some((owner) => preferred.has(owner))) {
          const current = batchEnd;
          const leased = await Promise.race([current.promise, timedOut, pause(stallMs)]);
          if (batchEnd === current) break;
          for (const owner of leased ?? []) if (awaited.has(owner)) leasedElsewhere.add(owner);
        } else {
          polls = leasedElsewhere.size < previousCount ? 0 : polls + 1;
          previousCount = leasedElsewhere.size;
          if (leasedElsewhere.size === 0 || polls * pollMs > stallMs) break;
          await pause(pollMs);
          prefer([...leasedElsewhere]);
          leasedElsewhere = new Set();
        }
      }
      done.abort();
    },
    async close() {
      await backlog.close();
      clearTimeout(pollTimer);
      await release();
    },
  };

  async function embedNext(first: readonly number[], signal: AbortSignal) {
    await deps.ready?.();
    const owners = first.length === 0 ? undefined : first;
    const { texts, leasedElsewhere } = await vectors.claim({
      model,
      claimant,
      leaseMs,
      limit: batchSize,
      owners,
    });
    const batch = firstBatch(texts);
    if (batch.length > 0) await vectors.put({ model, texts: await embedTexts(batch, signal) });
    const remaining = new Set(texts.slice(batch.length).map(({ owner }) => owner));
    // All owners except the remaining ones now have vectors, or another process has leased their texts.
    for (const owner of [...first, ...batch.map((text) => text.owner)])
      if (!remaining.has(owner)) preferred.delete(owner);
    return { isIdle: texts.length === 0, leasedElsewhere };
  }

  /** Embeds a batch. A text that the provider refuses gets no vectors and does not block the others. */
  async function embedTexts(texts: readonly TextToEmbed[], signal: AbortSignal): Promise<PutVectors['texts']> {
    try {
      const windows = await embedPassages(texts, provider, { signal });
      isProviderDown = false;
      return texts.map(({ owner, textHash }, index) => ({ owner, textHash, windows: windows[index] ?? [] }));
    } catch (error) {
      // This test call fails if the provider is down. If it succeeds, one of the texts is at fault.
      await provider.embed(['.'], { signal }).catch((providerError) => {
        isProviderDown = !signal.aborted;
        throw providerError;
      });
      const [first] = texts;
      if (first === undefined || texts.length > 1) {
        const embedded: PutVectors['texts'][number][] = [];
        for (const each of texts) embedded.push(...(await embedTexts([each], signal)));
        return embedded;
      }
      const { owner, textHash } = first;
      log.warn('a text cannot be embedded and will be found by keyword only', { owner, reason: reasonOf(error) });
      return [{ owner, textHash, windows: [] }];
    }
  }

  function pollLater(): void {
    clearTimeout(pollTimer);
    pollTimer = setTimeout(() => backlog.wake(), leasedPollMs).unref();
  }

  function prefer(owners: readonly number[]): void {
    preferred = new Set([...owners, ...preferred].slice(0, preferredMax));
    backlog.wake();
  }

  function endBatch(leasedElsewhere: readonly number[]): void {
    batchEnd.resolve(leasedElsewhere);
    batchEnd = Promise.withResolvers();
  }
}

/** Returns as many texts as fit into a batch, at least one. */
function firstBatch(texts: readonly TextToEmbed[]): readonly TextToEmbed[] {
  let units = 0;
  const tooMany = texts.findIndex(({ text }, index) => {
    units += text.length;
    return index > 0 && units > batchUnitsMax;
  });
  return tooMany === -1 ? texts : texts.slice(0, tooMany);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : '';
}
