import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../base/log.ts';
import { createBacklog } from '../../jobs/backlog.ts';
import type { TextToEmbed, VectorStore } from '../../storage/contracts/vectors.ts';
import type { EmbeddingProvider } from '../embeddings/embedding-provider.ts';
import { embedTexts } from './embed-texts.ts';
import { type ClaimableVectors, createTextClaims } from './text-claims.ts';

/**
 * Makes the missing vectors of one model in the background, so that a write never waits for them. Processes that share a
 * database share the work: each text is claimed by one of them.
 */
export interface BackgroundEmbedding {
  /** False while the provider does not answer. */
  readonly available: boolean;
  /** Call it when there may be something to embed. */
  wake(): void;
  /** These are embedded before others. */
  prefer(owners: readonly number[]): void;
  /**
   * Embeds these first, or waits for the processes that have claimed them. Resolves when they are done, when the time is up
   * or no progress is made, or at once while the provider is down.
   */
  settled(owners: readonly number[], waitMs: number, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export interface BackgroundEmbeddingDeps {
  readonly vectors: ClaimableVectors & Pick<VectorStore<never>, 'put' | 'pack'>;
  readonly provider: EmbeddingProvider;
  readonly log: Logger;
  /** Called whenever there is nothing left to embed. */
  readonly onDone?: () => void;
}

const batchSize = 32;
/** Owners that are embedded before others: whoever asked for more is long gone. */
const wantedMax = 20_000;
/** Total length of a batch: a caller that waits for other texts waits a second at most. */
const batchUnitsMax = 16_000;
/** A text that takes longer than this may take minutes, so nobody waits for it. */
const stallMs = 5_000;

/** How often a caller looks at texts that another process has claimed. */
const lookMs = 100;
/** How often this process looks, if others have claimed all that is left: they may die. */
const lookAgainMs = 2_000;

/** From this many texts with new vectors on, packing pays. */
export const packedMin = 4_000;

export function createBackgroundEmbedding(deps: BackgroundEmbeddingDeps): BackgroundEmbedding {
  const { vectors, provider, log } = deps;
  const model = provider.name;
  let unpacked = 0;
  /** Owners that a caller waits for, the latest first. */
  let wanted = new Set<number>();
  /** Ends with the owners in question that other processes have claimed. */
  let step = Promise.withResolvers<readonly number[]>();
  const claims = createTextClaims(vectors, model);
  let lookingAgain: NodeJS.Timeout | undefined;
  /** The provider, not the database: that one is busy now and then, and what it fails at is done again. */
  let isAway = false;
  const embedder = {
    provider,
    log,
    onAnswer(answers: boolean) {
      isAway = !answers;
    },
  };
  const backlog = createBacklog({
    async doSome(signal) {
      const asked = [...wanted];
      const { isIdle, elsewhere } = await embedNext(asked, signal).catch(async (error: unknown) => {
        // Others may be able to do it.
        await claims.release().catch(() => {});
        throw error;
      });
      endStep(asked.length > 0 ? elsewhere : []);
      if (!isIdle || asked.length > 0) return true;
      if (elsewhere.length === 0) deps.onDone?.();
      else lookAgain();
      await packMany(signal);
      return false;
    },
    onFailure(error) {
      log.warn('texts are waiting to be embedded', { model, reason: reasonOf(error) });
      endStep([]);
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
      const pause = (ms: number) => delay(ms, undefined, { signal: waited.signal, ref: false }).catch(() => {});
      const own = new Set(owners);
      let elsewhere = new Set<number>();
      for (let [looks, fewest] = [0, owners.length + 1]; !waited.signal.aborted && !isAway; ) {
        if (owners.some((owner) => wanted.has(owner))) {
          const current = step;
          const claimed = await Promise.race([current.promise, end, pause(stallMs)]);
          if (step === current) break;
          for (const owner of claimed ?? []) if (own.has(owner)) elsewhere.add(owner);
        } else {
          looks = elsewhere.size < fewest ? 0 : looks + 1;
          fewest = elsewhere.size;
          if (elsewhere.size === 0 || looks * lookMs > stallMs) break;
          await pause(lookMs);
          prefer([...elsewhere]);
          elsewhere = new Set();
        }
      }
      waited.abort();
    },
    async close() {
      await backlog.close();
      clearTimeout(lookingAgain);
      // Else they are free when this process has ended.
      await claims.release().catch(() => {});
    },
  };

  async function embedNext(asked: readonly number[], signal: AbortSignal) {
    const { texts, isIdle, over, elsewhere } = await claims.next({ asked, limit: batchSize });
    const some = atOnce(texts);
    if (some.length > 0) {
      unpacked += await vectors.put({ model, texts: await embedTexts(some, embedder, signal) });
      claims.done(some);
    }
    for (const owner of [...over, ...some.map((text) => text.owner)]) wanted.delete(owner);
    return { isIdle, elsewhere };
  }

  function lookAgain(): void {
    clearTimeout(lookingAgain);
    lookingAgain = setTimeout(() => backlog.wake(), lookAgainMs).unref();
  }

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

  function endStep(elsewhere: readonly number[]): void {
    step.resolve(elsewhere);
    step = Promise.withResolvers();
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
