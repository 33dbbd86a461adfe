import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { CarrelError } from '../../base/errors.ts';
import type { EmbeddingProvider, EmbedOptions } from './embedding-provider.ts';
import type { EmbeddingWorkerData, EmbeddingWorkerReply } from './embedding-worker.ts';
import type { OnnxDevice } from './onnx-runtime.ts';

export interface LocalEmbeddingsConfig {
  /** Holds model.onnx, config.json, tokenizer.json and tokenizer_config.json. */
  modelFolder: string;
  threads: number;
  queuedTextsMax: number;
  /** A text takes 5 to 100 ms. A worker that needs longer than this is ended and started anew. */
  textTimeoutMs: number;
  /** Without it, native code where it can be loaded. */
  device?: OnnxDevice;
}

interface Job {
  texts: readonly string[];
  vectors: Float32Array[];
  resolve(vectors: Float32Array[]): void;
  reject(error: unknown): void;
  /** Stops listening for the cancellation. */
  forget(): void;
}

/**
 * The model in the package, on a worker thread that starts with the first text and does not keep the process alive.
 * Texts go to the worker one at a time, queries first, so that a search waits for one text of an ingestion at most.
 */
export function createLocalEmbeddings(config: LocalEmbeddingsConfig): EmbeddingProvider {
  const queries: Job[] = [];
  const passages: Job[] = [];
  let lane: { worker: Worker; job: Job | undefined; timer: NodeJS.Timeout | undefined } | undefined;
  let failure: unknown;
  let device: OnnxDevice | undefined;
  /** Whoever waits for the text that is being embedded to be done. */
  const idle: (() => void)[] = [];

  function startLane(): NonNullable<typeof lane> {
    const file = import.meta.url.endsWith('.ts') ? './embedding-worker.ts' : './embedding-worker.js';
    const workerData: EmbeddingWorkerData = {
      modelFolder: config.modelFolder,
      threads: config.threads,
      device: config.device,
    };
    const worker = new Worker(new URL(file, import.meta.url), { workerData });
    const started: NonNullable<typeof lane> = { worker, job: undefined, timer: undefined };
    worker.on('message', (reply: EmbeddingWorkerReply) => {
      if (reply.device === undefined) settle(started, reply);
      else device = reply.device;
    });
    worker.on('error', (error) => {
      failure = error;
    });
    worker.on('exit', () => stopped(started));
    return started;
  }

  function next(): void {
    const job = queries[0] ?? passages[0];
    if (!job) {
      lane?.worker.unref();
      return;
    }
    lane ??= startLane();
    if (lane.job) return;
    const { worker } = lane;
    lane.job = job;
    lane.timer = setTimeout(() => void worker.terminate(), config.textTimeoutMs);
    worker.ref();
    worker.postMessage(job.texts[job.vectors.length] ?? '');
  }

  function settle(current: NonNullable<typeof lane>, { vector, failure: reason }: EmbeddingWorkerReply): void {
    const { job } = current;
    clearTimeout(current.timer);
    current.job = undefined;
    for (const resolve of idle.splice(0)) resolve();
    if (job && vector) job.vectors.push(vector);
    if (job && !vector) finish(job, () => job.reject(modelFailed(reason)));
    else if (job && job.vectors.length === job.texts.length) finish(job, () => job.resolve(job.vectors));
    next();
  }

  /** Whoever waits is told; the next text starts another worker. */
  function stopped(current: NonNullable<typeof lane>): void {
    clearTimeout(current.timer);
    if (lane === current) lane = undefined;
    for (const job of [...queries, ...passages]) finish(job, () => job.reject(modelFailed(failure)));
  }

  function finish(job: Job, tell: () => void): void {
    for (const queue of [queries, passages]) {
      const at = queue.indexOf(job);
      if (at >= 0) queue.splice(at, 1);
    }
    job.forget();
    tell();
  }

  function queuedTexts(): number {
    return [...queries, ...passages].reduce((sum, job) => sum + job.texts.length - job.vectors.length, 0);
  }

  function enqueue(texts: readonly string[], { signal, purpose = 'passage' }: EmbedOptions): Promise<Float32Array[]> {
    if (queuedTexts() + texts.length > config.queuedTextsMax) {
      const message = 'Too many texts wait for the local embedding model. Repeat the call in a few seconds.';
      return Promise.reject(new CarrelError('too_many_in_flight', message, { retryAfterSeconds: 5 }));
    }
    return new Promise((resolve, reject) => {
      const abort = () => finish(job, () => job.reject(new CarrelError('cancelled', 'The call was cancelled.')));
      const job: Job = {
        texts,
        vectors: [],
        resolve,
        reject,
        forget: () => signal?.removeEventListener('abort', abort),
      };
      (purpose === 'query' ? queries : passages).push(job);
      signal?.addEventListener('abort', abort, { once: true });
      if (signal?.aborted) abort();
      next();
    });
  }

  return {
    name: `local:${basename(config.modelFolder)}`,
    get dimensions() {
      return modelDimensions(config.modelFolder);
    },
    get device() {
      return device;
    },
    embed: async (texts, options = {}) => (texts.length === 0 ? [] : enqueue(texts, options)),
    async close() {
      const stopping = lane;
      for (const job of [...queries, ...passages]) finish(job, () => job.reject(closed()));
      if (stopping?.job) {
        // Not unreferenced: with nothing else to do, the process would end before the close has.
        const grace = new AbortController();
        await Promise.race([
          new Promise<void>((resolve) => idle.push(resolve)),
          delay(closeGraceMs, undefined, { signal: grace.signal }).catch(() => {}),
        ]);
        grace.abort();
      }
      await stopping?.worker.terminate();
    },
  };
}

/**
 * A thread that is ended while its native code runs takes the whole process down. So the text that is being embedded, or
 * the model that is being loaded, may take this long before that is risked.
 */
const closeGraceMs = 3_000;

function closed(): CarrelError {
  return new CarrelError('unavailable', 'The embedding model is closed.');
}

function modelFailed(cause: unknown): CarrelError {
  const message =
    'The local embedding model could not be run. Install Carrel again with its folder models/, ' +
    'or choose another EMBEDDING_PROVIDER.';
  return new CarrelError('unavailable', message, { cause });
}

function modelDimensions(folder: string): number {
  try {
    return JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')).hidden_size;
  } catch (cause) {
    const message = `There is no embedding model in ${folder}. Install the package again or set another folder.`;
    throw new CarrelError('invalid_config', message, { cause });
  }
}
