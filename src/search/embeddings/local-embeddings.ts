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
  threads: number;
  queuedTextsMax: number;
  /** A text takes 5 to 100 ms. A worker that takes longer than this is terminated and restarted. */
  textTimeoutMs: number;
  /** By default native code, if it can be loaded. */
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
 * A local model, on a worker thread that starts with the first text and does not keep the process alive. Texts go to the
 * worker one at a time, queries first, so that a search waits for at most one text that is being ingested.
 */
export function createLocalEmbeddings(config: LocalEmbeddingsConfig): EmbeddingProvider {
  const queries: Job[] = [];
  const passages: Job[] = [];
  let thread: Calls<string, EmbeddedText> | undefined;
  let device: OnnxDevice | undefined;
  /** Ends with the last text, or with the current one if nobody is waiting any more. */
  let working: Promise<void> | undefined;

  function start(): Calls<string, EmbeddedText> {
    const workerData: EmbeddingWorkerData = {
      modelFolder: config.modelFolder,
      threads: config.threads,
      device: config.device,
    };
    keepRuntimeQuiet();
    return createWorkerCalls({
      from: import.meta.url,
      file: 'embedding-worker',
      name: 'carrel-embeddings',
      workerData,
      lost: modelFailed,
    });
  }

  function first(): Job | undefined {
    return queries[0] ?? passages[0];
  }

  async function work(): Promise<void> {
    for (let job = first(); job !== undefined; job = first()) await embedNext(job);
    working = undefined;
  }

  async function embedNext(job: Job): Promise<void> {
    if (!thread?.alive) thread = start();
    const own = thread;
    const bounds = { timeoutMs: config.textTimeoutMs, overdue: () => modelFailed(new Error('a text took too long')) };
    try {
      const embedded = await withinTime(own, own.call(job.texts[job.vectors.length] ?? ''), bounds);
      device = embedded.device;
      job.vectors.push(embedded.vector);
      if (job.vectors.length === job.texts.length) finish(job, () => job.resolve(job.vectors));
    } catch (error) {
      // Without the thread, all waiting calls fail; the next text starts another one.
      const failed = own.alive ? [job] : [...queries, ...passages];
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
      if (first()) working ??= work();
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
      const stopping = thread;
      for (const job of [...queries, ...passages]) finish(job, () => job.reject(closed()));
      if (working) {
        // Keeps the process alive: with nothing else to do, it would exit before `close` has finished.
        const grace = new AbortController();
        await Promise.race([working, delay(closeGraceMs, undefined, { signal: grace.signal }).catch(() => {})]);
        grace.abort();
      }
      await stopping?.terminate();
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
