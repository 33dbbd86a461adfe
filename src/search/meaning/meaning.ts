import assert from 'node:assert/strict';
import { CarrelError, isCarrelError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { VectorState, VectorStore } from '../../storage/contracts/vectors.ts';
import { idSetOf } from '../../storage/id-set.ts';
import type { EmbeddingProvider } from '../embeddings/embedding-provider.ts';
import { createModelLane, type ModelLane } from './model-lane.ts';
import type { AllowedOwners, MeaningMatch } from './nearest-vectors.ts';

/** Search by meaning over one corpus. Vectors are made in the background; a write never waits for them. */
export interface Meaning<Filter> {
  /** The model that answers: the former one, until every text has vectors of the one that is configured. */
  readonly model: string;
  readonly dimensions: number | undefined;
  /** False while the provider does not answer. */
  readonly available: boolean;
  /** There is something to embed. */
  wake(): void;
  /** These are embedded before others, because somebody has asked for them. */
  prefer(owners: readonly number[]): void;
  /**
   * The nearest texts, each once, by its nearest part. Waits a moment for those that are just being embedded; `pending`
   * tells how many of those that the filter lets through were not found for that reason. What may not be found is left out
   * before anything is ranked.
   */
  search(request: MeaningRequest<Filter>): Promise<MeaningAnswer>;
  close(): Promise<void>;
}

export interface MeaningRequest<Filter> {
  readonly text: string;
  /** Of the text, where it is known already: a second search for the same text need not embed it again. */
  readonly vector?: Float32Array | undefined;
  readonly limit: number;
  /** What the database can tell, in its own terms. */
  readonly filter?: Filter | undefined;
  /** The owners that may be found, for a caller who knows them. */
  readonly allowed?: AllowedOwners | undefined;
  /** How long texts are waited for that are just being embedded; three seconds unless told. */
  readonly waitMs?: number | undefined;
  readonly signal: AbortSignal;
}

export interface MeaningAnswer {
  /** Of the text that was searched for. */
  readonly vector: Float32Array;
  readonly matches: MeaningMatch[];
  readonly pending: number;
  /** The one that embedded the text; see `Meaning.model`. */
  readonly model: string;
}

export interface MeaningDeps<Filter> {
  readonly vectors: VectorStore<Filter>;
  readonly provider: EmbeddingProvider;
  /** The provider of a model that was used before, by its name; undefined where it cannot be had any more. */
  readonly providerOf?: ((model: string) => Promise<EmbeddingProvider | undefined>) | undefined;
  readonly log: Logger;
  /** A search waits for so many texts that are being embedded; more take too long. */
  readonly waitedForMax?: number;
}

interface Settled {
  readonly state: VectorState;
  readonly pending: number;
}

const settleMs = 3_000;
/** More texts than these take minutes, and are not worth waiting for. */
const settledMax = 20_000;

/**
 * Touches neither the database nor the model before it is woken or asked.
 *
 * A change of the model, in steps:
 *
 * 1. The configured model is chosen: from then on every text waits for its vectors, new ones for those of the former too.
 * 2. While any waits, questions are embedded by the former model and compared with its vectors. Where the former model
 *    cannot be had, the vectors that are there already are searched, and `pending` tells how many are missing.
 * 3. When none waits, questions go to the new model, and the vectors of former ones are dropped.
 */
export function createMeaning<Filter>(deps: MeaningDeps<Filter>): Meaning<Filter> {
  const { vectors, provider, log, waitedForMax = settledMax } = deps;
  const main = createModelLane({ vectors, provider, log, ready: start, onDone });
  let former: ModelLane<Filter> | undefined;
  let started: Promise<void> | undefined;
  const modelOfVector = new WeakMap<Float32Array, string>();
  let isChanging = true;
  let isClosed = false;
  /** Former lanes on their way out. */
  let leaving: Promise<unknown> = Promise.resolve();

  return {
    get model() {
      return serving().model;
    },
    get dimensions() {
      return serving().provider.dimensions;
    },
    get available() {
      return serving().embedding.available;
    },
    wake() {
      former?.embedding.wake();
      main.embedding.wake();
    },
    prefer: (owners) => serving().embedding.prefer(owners),
    async search(request) {
      // A database that takes no writes can still be searched.
      await start().catch(() => {});
      const before = former;
      if (before !== undefined) {
        main.embedding.wake();
        try {
          return await searchIn(before, request);
        } catch (error) {
          if (request.signal.aborted || !isCarrelError(error)) throw error;
          log.warn('the former embedding model does not answer, questions go to the new one', { model: before.model });
          leaveFormer();
        }
      }
      return searchIn(main, request);
    },
    async close() {
      isClosed = true;
      leaveFormer();
      await Promise.all([main.close(), leaving]);
    },
  };

  function serving(): ModelLane<Filter> {
    return former ?? main;
  }

  function start(): Promise<void> {
    // One that failed is tried again.
    started ??= begin().catch((error) => {
      started = undefined;
      throw error;
    });
    return started;
  }

  async function begin(): Promise<void> {
    const models = await vectors.models();
    if (models.at(-1)?.model !== main.model) await vectors.choose(main.model);
    const own = await vectors.state({ model: main.model });
    const last = models.findLast(({ model, vectors: count }) => model !== main.model && count > 0);
    if (own.pending === 0 || last === undefined) return;
    const known = await deps.providerOf?.(last.model);
    log.info('texts are embedded with another model', { from: last.model, to: main.model, waiting: own.pending });
    if (known === undefined) return;
    former = createModelLane({ vectors, provider: known, log, ready: async () => {} });
  }

  async function searchIn(lane: ModelLane<Filter>, request: MeaningRequest<Filter>): Promise<MeaningAnswer> {
    const { limit, filter, allowed, signal } = request;
    const vector = await vectorOf(lane, request);
    // A second search for the same text goes on with what the first has found.
    const { state, pending } =
      request.vector === undefined
        ? await settle(lane, request)
        : { state: await vectors.state({ model: lane.model }, { signal }), pending: 0 };
    const matches = await lane.nearest.search(vector, { limit, filter, allowed, state, signal });
    return { matches, pending, vector, model: lane.model };
  }

  /** One that came with an earlier answer may be of another model by now. */
  async function vectorOf(lane: ModelLane<Filter>, request: MeaningRequest<Filter>): Promise<Float32Array> {
    const { text, vector: known, signal } = request;
    if (known !== undefined && modelOfVector.get(known) === lane.model) return known;
    const [vector] = await lane.provider.embed([text], { purpose: 'query', signal });
    assert(vector, 'one vector for each text');
    modelOfVector.set(vector, lane.model);
    return vector;
  }

  /** How many of the texts that the search is about have no vectors, after those that are being made were waited for. */
  async function settle(lane: ModelLane<Filter>, request: MeaningRequest<Filter>): Promise<Settled> {
    const { model } = lane;
    const { filter, signal, waitMs = settleMs } = request;
    const state = await vectors.state({ model }, { signal });
    const { pending, chosen } = state;
    if (!chosen && lane === main) throw replaced(model);
    if (pending === 0) return { state, pending };
    lane.embedding.wake();
    const allowed = filter && idSetOf(await vectors.matching(filter, { signal }));
    const missing = async () =>
      (await vectors.unembedded({ model }, { signal })).filter((owner) => allowed?.has(owner) ?? true);
    let owners = await missing();
    if (owners.length > 0 && owners.length <= waitedForMax) {
      await lane.embedding.settled(owners, waitMs, signal);
      owners = await missing();
    }
    // Read last: what is no longer missing is to be found.
    return { state: await vectors.state({ model }, { signal }), pending: owners.length };
  }

  /** Everything has vectors of the configured model. */
  function onDone(): void {
    if (!isChanging) return;
    isChanging = false;
    leaveFormer();
    dropFormer().catch((error) => {
      isChanging = true;
      // The next process goes on with it.
      if (isClosed) return;
      log.warn('the vectors of a former model are still there', {
        reason: error instanceof Error ? error.message : '',
      });
    });
  }

  function leaveFormer(): void {
    const left = former;
    former = undefined;
    if (left !== undefined) leaving = Promise.all([leaving, left.close(), left.provider.close()]);
  }

  /** Not those that another process has chosen since: it knows the newer configuration. */
  async function dropFormer(): Promise<void> {
    await vectors.drop();
    for (const { model } of await vectors.models()) {
      if (model === main.model) return;
      await vectors.drop(model);
      log.info('the vectors of a former model are gone', { model });
    }
  }
}

function replaced(model: string): CarrelError {
  const message =
    `Another process has replaced the vectors of ${model} by those of another model. ` +
    'Restart this one with the same EMBEDDING_PROVIDER and EMBEDDING_MODEL.';
  return new CarrelError('unavailable', message);
}
