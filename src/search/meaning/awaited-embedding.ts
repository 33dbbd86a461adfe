import { setTimeout as delay } from 'node:timers/promises';
import type { VectorStore } from '../../storage/vectors/vector-store.ts';
import type { BackgroundEmbedding } from './background-embedding.ts';

export interface AwaitedEmbeddingDeps {
  readonly vectors: Pick<VectorStore<never>, 'state' | 'waiting'>;
  readonly model: string;
  /** Called when nothing is left to embed. */
  readonly onDone?: (() => void) | undefined;
}

const lookMs = 100;

/** For a process that leaves embedding to others on its database: only waits for their vectors. */
export function createAwaitedEmbedding({ vectors, model, onDone }: AwaitedEmbeddingDeps): BackgroundEmbedding {
  const stop = new AbortController();
  /** Owners whose vectors did not arrive in time. Searches don't wait for them again: maybe no process embeds them. */
  let inVain = new Set<number>();
  let looking: Promise<void> | undefined;

  return {
    available: true,
    wake() {
      looking ??= look().finally(() => {
        looking = undefined;
      });
    },
    prefer() {},
    async whenEmbedded(owners, waitMs, signal) {
      if (owners.every((owner) => inVain.has(owner))) return;
      const over = AbortSignal.any([signal, stop.signal, AbortSignal.timeout(waitMs)]);
      let missing = owners;
      while (missing.length > 0 && !over.aborted) {
        await delay(lookMs, undefined, { signal: over, ref: false }).catch(() => {});
        const waiting = await vectors.waiting({ model, limit: missing.length, owners: missing });
        missing = waiting.map(({ owner }) => owner);
      }
      inVain = new Set(missing);
    },
    async close() {
      stop.abort();
      await looking;
    },
  };

  async function look(): Promise<void> {
    // A failure is left for the next call to report.
    const state = await vectors.state({ model }).catch(() => undefined);
    if (state?.pending === 0) onDone?.();
  }
}
