import assert from 'node:assert/strict';
import { CarrelError, isCarrelError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { NearestRequest, VectorSnapshot } from '../../storage/vectors/vector.ts';
import type { VectorStore } from '../../storage/vectors/vector-store.ts';
import type { EmbeddingProvider } from '../models/embedding-provider.ts';
import { createModelPipeline, type ModelPipeline } from './model-pipeline.ts';
import { bestOfOwners, type MeaningMatch, type NearCandidates } from './nearest-vectors.ts';

/** Search by meaning over one corpus. Vectors are created in the background; a write never waits for them. */
export interface Meaning<Filter> {
  /** The model that answers: the previous one, until every text has vectors of the configured one. */
  readonly model: string;
  readonly dimensions: number | undefined;
  /** False while the embedding provider does not answer. */
  readonly available: boolean;
  /** Call when there is something to embed. */
  wake(): void;
  /** Embeds these owners' texts first, because a caller needs them. */
  prefer(owners: readonly number[]): void;
  /**
   * Returns the nearest texts. Each appears once, scored by its nearest part. Waits briefly for texts being embedded;
   * `pending` counts texts that pass the filter but have no vectors yet.
   */
  search(request: MeaningRequest<Filter>): Promise<MeaningAnswer>;
  /** Like `search`, but returns candidates without exact scores. The caller scores them together with its other reads. */
  find(request: MeaningRequest<Filter>): Promise<MeaningCandidates>;
  close(): Promise<void>;
}

export interface MeaningRequest<Filter> {
  readonly text: string;
  /** The text's embedding, if known from an earlier search. */
  readonly vector?: Float32Array | undefined;
  readonly limit: number;
  /** Restricts the search to texts that pass this filter. The database applies it. */
  readonly filter?: Filter | undefined;
  /** Restricts the search to these owners. */
  readonly allowed?: readonly number[] | undefined;
  /** Replaces the first database read of the search. Set by callers that combine it with their own reads. */
  readonly firstRead?: ((request: NearestRequest<Filter>) => Promise<VectorSnapshot>) | undefined;
  /** How long to wait for texts being embedded; three seconds by default. */
  readonly waitMs?: number | undefined;
  readonly signal: AbortSignal;
}

export interface MeaningAnswer {
  /** The embedding of the query. */
  readonly vector: Float32Array;
  readonly matches: MeaningMatch[];
  readonly pending: number;
  /** The model of that embedding; see `Meaning.model`. */
  readonly model: string;
}

export interface MeaningCandidates extends Omit<MeaningAnswer, 'matches'> {
  readonly candidates: NearCandidates;
  /** See `NearestVectors`. */
  readonly keysOf: ((owners: readonly number[]) => number[]) | undefined;
}

export interface MeaningDeps<Filter> {
  readonly vectors: VectorStore<Filter>;
  readonly provider: EmbeddingProvider;
  /** The provider of a previously used model, by name; undefined if it is no longer available. */
  readonly providerOf?: ((model: string) => Promise<EmbeddingProvider | undefined>) | undefined;
  readonly log: Logger;
  /** False if only other processes on this database create vectors. */
  readonly embeds?: boolean;
  /** A search waits for all texts without vectors if there are at most this many. */
  readonly waitForAllMax?: number;
  /** Otherwise, it waits only for this many of the newest. */
  readonly waitForNewest?: number;
}

const vectorWaitMs = 3_000;
/** Default for `waitForAllMax`: about as many texts as can be embedded in three seconds. */
const waitForAllDefault = 2_000;

/**
 * Creates a search by meaning. Uses neither the database nor the model before the first call. When the configured model changes:
 * 1. All texts are embedded again with the new model. New texts also get vectors of the previous one.
 * 2. Until then, queries use the previous model, or the new one if the previous one is unavailable.
 * 3. Afterwards, queries use the new model, and the previous model's vectors are dropped.
 */
export function createMeaning<Filter>(deps: MeaningDeps<Filter>): Meaning<Filter> {
  const { vectors, provider, log, embeds = true, waitForAllMax = waitForAllDefault, waitForNewest = 0 } = deps;
  const main = createModelPipeline({ vectors, provider, log, ready: start, embeds, onDone });
  let previous: ModelPipeline | undefined;
  let starting: Promise<void> | undefined;
  const modelOfVector = new WeakMap<Float32Array, string>();
  let needsCleanup = true;
  let isClosed = false;
  /** Resolves when the pipelines of previous models are closed. */
  let closing: Promise<unknown> = Promise.resolve();

  return {
    get model() {
      return servingPipeline().model;
    },
    get dimensions() {
      return servingPipeline().provider.dimensions;
    },
    get available() {
      return servingPipeline().embedding.available;
    },
    wake() {
      previous?.embedding.wake();
      main.embedding.wake();
    },
    prefer: (owners) => servingPipeline().embedding.prefer(owners),
    async search(request) {
      const { vector, candidates, ...found } = await find(request);
      const { limit, signal } = request;
      const scored =
        'scored' in candidates
          ? candidates.scored
          : await vectors.score({ query: vector, keys: candidates.keys }, { signal });
      return { ...found, vector, matches: bestOfOwners(scored, limit) };
    },
    find,
    async close() {
      isClosed = true;
      closePrevious();
      await Promise.all([main.close(), closing]);
    },
  };

  async function find(request: MeaningRequest<Filter>): Promise<MeaningCandidates> {
    // Ignores a failure: a read-only database can still be searched.
    await start().catch(() => {});
    const pipeline = previous;
    if (pipeline !== undefined) {
      main.embedding.wake();
      try {
        return await findIn(pipeline, request);
      } catch (error) {
        if (request.signal.aborted || !isCarrelError(error)) throw error;
        log.warn('the previous embedding model does not answer; searches use the new one', { model: pipeline.model });
        closePrevious();
      }
    }
    return findIn(main, request);
  }

  function servingPipeline(): ModelPipeline {
    return previous ?? main;
  }

  function start(): Promise<void> {
    // A failed start is retried by the next call.
    starting ??= begin().catch((error) => {
      starting = undefined;
      throw error;
    });
    return starting;
  }

  async function begin(): Promise<void> {
    const models = await vectors.models();
    if (models.at(-1)?.model !== main.model) await vectors.choose({ model: main.model });
    const state = await vectors.state({ model: main.model });
    const previousModel = models.findLast(({ model, vectors: count }) => model !== main.model && count > 0);
    if (state.pending === 0 || previousModel === undefined) return;
    const previousProvider = await deps.providerOf?.(previousModel.model);
    log.info('texts are being embedded with another model', {
      from: previousModel.model,
      to: main.model,
      waiting: state.pending,
    });
    if (previousProvider === undefined) return;
    previous = createModelPipeline({ vectors, provider: previousProvider, log, embeds });
  }

  async function findIn(pipeline: ModelPipeline, request: MeaningRequest<Filter>): Promise<MeaningCandidates> {
    const { limit, filter, allowed, signal } = request;
    const { model, nearest } = pipeline;
    const isRepeated = request.vector !== undefined && modelOfVector.get(request.vector) === model;
    const vector = await vectorOf(pipeline, request);
    const nearestRequest: NearestRequest<Filter> = { model, query: vector, limit, filter, allowed };
    // A caller that passes a vector repeats its search, so there is no need to wait for new texts again.
    const { snapshot, pending } = isRepeated
      ? { snapshot: await vectors.readSnapshot(nearestRequest, { signal }), pending: 0 }
      : await waitForEmbedding(pipeline, request, nearestRequest);
    const candidates = await nearest.candidates(vector, { limit, allowed, snapshot, signal });
    return { candidates, keysOf: nearest.keysOf, pending, vector, model };
  }

  /** Returns the query's vector: the caller's, unless it is from another model. */
  async function vectorOf(pipeline: ModelPipeline, request: MeaningRequest<Filter>): Promise<Float32Array> {
    const { text, vector: cached, signal } = request;
    if (cached !== undefined && modelOfVector.get(cached) === pipeline.model) return cached;
    const [vector] = await pipeline.provider.embed([text], { purpose: 'query', signal });
    assert(vector, 'one vector for each text');
    modelOfVector.set(vector, pipeline.model);
    return vector;
  }

  /** Waits for texts without vectors, because the caller may have just written them. Then counts the missing ones. */
  async function waitForEmbedding(
    pipeline: ModelPipeline,
    request: MeaningRequest<Filter>,
    nearestRequest: NearestRequest<Filter>,
  ) {
    const { model } = pipeline;
    const { filter, signal, waitMs = vectorWaitMs } = request;
    const read = () => vectors.readSnapshot(nearestRequest, { signal });
    const snapshot = await (request.firstRead?.(nearestRequest) ?? read());
    const { pending, isChosen } = snapshot.state;
    if (!isChosen && pipeline === main) throw modelReplaced(model);
    if (pending === 0) return { snapshot, pending };
    pipeline.embedding.wake();
    const matching = filter && new Set(snapshot.matching ?? (await vectors.matching(filter, { signal })));
    /** Returns the owners without vectors, newest first. */
    const missing = async () =>
      (await vectors.unembedded({ model }, { signal })).filter((owner) => matching?.has(owner) ?? true).reverse();
    let owners = await missing();
    const awaited = owners.length <= waitForAllMax ? owners : owners.slice(0, waitForNewest);
    if (awaited.length > 0) {
      await pipeline.embedding.whenEmbedded(awaited, waitMs, signal);
      owners = await missing();
    }
    // Reads again, so that the search finds texts that were embedded meanwhile.
    return { snapshot: await read(), pending: owners.length };
  }

  /** Called when all texts have vectors of the configured model. */
  function onDone(): void {
    if (!needsCleanup) return;
    needsCleanup = false;
    closePrevious();
    dropPrevious().catch((error) => {
      needsCleanup = true;
      // The next process will remove the vectors.
      if (isClosed) return;
      log.warn('could not remove the vectors of a previous model', {
        reason: error instanceof Error ? error.message : '',
      });
    });
  }

  function closePrevious(): void {
    const pipeline = previous;
    previous = undefined;
    if (pipeline !== undefined) closing = Promise.all([closing, pipeline.close(), pipeline.provider.close()]);
  }

  /** Drops the vectors of earlier models, but not those of models that another process chose later. */
  async function dropPrevious(): Promise<void> {
    await vectors.drop();
    const models = await vectors.models();
    // Another process, with a newer configuration, has dropped this process's model.
    if (!models.some(({ model }) => model === main.model)) return;
    for (const { model } of models) {
      if (model === main.model) return;
      await vectors.drop(model);
      log.info('removed the vectors of a previous model', { model });
    }
  }
}

function modelReplaced(model: string): CarrelError {
  const message =
    `Another process has replaced the vectors of ${model} with another model's. ` +
    'Restart this one with the same EMBEDDING_PROVIDER and EMBEDDING_MODEL.';
  return new CarrelError('unavailable', message);
}
