import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CarrelError, isCarrelError } from '../../base/errors.ts';
import type { Calls } from '../../base/workers/calls.ts';
import { withinTime } from '../../base/workers/within-time.ts';
import { createWorkerCalls } from '../../base/workers/worker-calls.ts';
import type { EmbeddingProvider, EmbedOptions } from './embedding-provider.ts';
import type { EmbeddedText, EmbeddingWorkerData } from './embedding-worker.ts';
import type { OnnxDevice } from './onnx-runtime.ts';

export interface LocalEmbeddingsConfig {
  /** Holds model.onnx, config.json, tokenizer.json and tokenizer_config.json. */
  modelFolder: string;
  /** Cores that the model may keep busy, with a thread and about 90 MB each. */
  threads: number;
  queuedTextsMax: number;
  /** A text takes 5 to 100 ms. A worker that takes longer than this is terminated and restarted. */
  textTimeoutMs: number;
  /** By default native code, if it can be loaded. */
  device?: OnnxDevice;
}

interface Job {
  texts: readonly string[];
  /** The texts before this one have been given to a thread. */
  next: number;
  vectors: Float32Array[];
  left: number;
  resolve(vectors: Float32Array[]): void;
  reject(error: unknown): void;
  /** Stops listening for the cancellation. */
  forget(): void;
}

/** A thread with a model of its own, which embeds one text at a time. */
interface Lane {
  calls: Calls<string, EmbeddedText>;
  working: Promise<void> | undefined;
}

/**
 * A local model, on worker threads that start as texts need them and do not keep the process alive. Each runs the model on
 * one core and takes one text at a time, queries first, so that a search waits for at most one text that is being ingested.
 * Texts are not run in batches: embedding-model.ts says why.
 */
export function createLocalEmbeddings(config: LocalEmbeddingsConfig): EmbeddingProvider {
  const queries: Job[] = [];
  const passages: Job[] = [];
  let lanes: Lane[] = [];
  let device: OnnxDevice | undefined;

  function start(): Lane {
    const workerData: EmbeddingWorkerData = { modelFolder: config.modelFolder, threads: 1, device: config.device };
    keepRuntimeQuiet();
    const calls = createWorkerCalls<string, EmbeddedText>({
      from: import.meta.url,
      file: 'embedding-worker',
      name: 'carrel-embeddings',
      workerData,
      lost: modelFailed,
    });
    return { calls, working: undefined };
  }

  function nextJob(): Job | undefined {
    return [...queries, ...passages].find((job) => job.next < job.texts.length);
  }

  /** Gives texts to threads that have none, and starts another thread while texts wait. */
  function assign(): void {
    lanes = lanes.filter(({ calls }) => calls.alive);
    while (nextJob() !== undefined) {
      const free = lanes.find(({ working }) => working === undefined);
      if (free === undefined && lanes.length >= config.threads) return;
      const lane = free ?? start();
      if (free === undefined) lanes.push(lane);
      lane.working = work(lane).finally(() => {
        lane.working = undefined;
        assign();
      });
    }
  }

  async function work({ calls }: Lane): Promise<void> {
    for (let job = nextJob(); job !== undefined && calls.alive; job = nextJob()) await embedNext(job, calls);
  }

  async function embedNext(job: Job, calls: Calls<string, EmbeddedText>): Promise<void> {
    const place = job.next;
    job.next += 1;
    const bounds = { timeoutMs: config.textTimeoutMs, overdue: () => modelFailed(new Error('a text took too long')) };
    try {
      const embedded = await withinTime(calls, calls.call(job.texts[place] ?? ''), bounds);
      device = embedded.device;
      job.vectors[place] = embedded.vector;
      job.left -= 1;
      if (job.left === 0) finish(job, () => job.resolve(job.vectors));
    } catch (error) {
      // Without the thread, all waiting calls fail; the next text starts another one.
      const failed = calls.alive ? [job] : [...queries, ...passages];
      const failure = isCarrelError(error) ? error : modelFailed(error);
      for (const each of failed) finish(each, () => each.reject(failure));
    }
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
    return [...queries, ...passages].reduce((sum, job) => sum + job.left, 0);
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
        next: 0,
        vectors: Array.from({ length: texts.length }),
        left: texts.length,
        resolve,
        reject,
        forget: () => signal?.removeEventListener('abort', abort),
      };
      (purpose === 'query' ? queries : passages).push(job);
      signal?.addEventListener('abort', abort, { once: true });
      if (signal?.aborted) abort();
      assign();
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
      for (const job of [...queries, ...passages]) finish(job, () => job.reject(closed()));
      const stopping = lanes;
      lanes = [];
      // Keeps the process alive: with nothing else to do, it would exit before `close` has finished.
      const grace = new AbortController();
      const ended = Promise.all(stopping.map(({ working }) => working));
      await Promise.race([ended, delay(closeGraceMs, undefined, { signal: grace.signal }).catch(() => {})]);
      grace.abort();
      await Promise.all(stopping.map(({ calls }) => calls.terminate()));
    },
  };
}

/**
 * Terminating a thread while its native code runs crashes the whole process. So the text that is being embedded, or the
 * model that is being loaded, gets this long before that is risked.
 */
const closeGraceMs = 3_000;

function closed(): CarrelError {
  return new CarrelError('unavailable', 'The embedding model is closed.');
}

/**
 * The native runtime (1.29 and newer, on Linux and macOS) sends telemetry and keeps a machine id in the home folder, unless
 * this variable is set before it is loaded. It must be set here: a worker has a copy of the environment, which native code
 * does not see.
 */
function keepRuntimeQuiet(): void {
  process.env['ORT_DISABLE_TELEMETRY'] = '1';
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
