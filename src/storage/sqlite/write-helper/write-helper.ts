import { availableParallelism } from 'node:os';
import { MessageChannel, type MessagePort, receiveMessageOnPort, type Worker } from 'node:worker_threads';
import { leanLimits, startWorker } from '../../../base/workers/worker-calls.ts';
import { documentTermsOf } from '../../../words/document-terms.ts';
import { currentLanguage } from '../../../words/language.ts';
import type { DocumentTerms } from '../../../words/ranking/bm25.ts';
import type { IndexedTexts } from '../../../words/ranking/word-index.ts';
import { type CutCall, type CutReply, claim, type HelperData } from './helper-messages.ts';
import { packTexts, unpackTerms } from './packed-terms.ts';

/**
 * What the writing thread leaves to another one: tokenising the texts of a large write while their rows are
 * being written, and carrying what earlier writes have left in the log into the database file.
 */
export interface WriteHelper {
  /** Begins at once. The terms come in the order of the texts. */
  cut(texts: readonly IndexedTexts[]): Iterable<DocumentTerms>;
  close(): Promise<void>;
}

/** Fewer texts are tokenised sooner than they are sent. */
const textsMin = 32;

/** Texts of one message, and the length that they have at most unless one alone is longer. */
const chunkTexts = 64;
const chunkUnits = 1 << 18;

/** Messages that are on their way, so that a long document is not in memory several times. */
const aheadMax = 32;

/** Texts of this length leave about 700 pages in the log. The writer carries it over itself when it has 4,000. */
const logUnits = 1 << 19;

/** Tokenising a chunk takes a few milliseconds. A thread that needs longer than this is given up. */
const waitMs = 2000;

/** The thread ends after this long without work. */
const idleMs = 10_000;

export interface WriteHelperConfig {
  /** Of the database that is written to. */
  readonly path?: string | undefined;
  readonly idleMs?: number;
}

interface HelpingThread {
  readonly worker: Worker;
  readonly replies: MessagePort;
  readonly idle: NodeJS.Timeout;
}

/**
 * The thread that helps starts with the first large write. Whoever comes first takes a chunk, the thread or the one that
 * writes: so a thread that is busy, late or dead costs time at most.
 */
export function createWriteHelper(config: WriteHelperConfig = {}): WriteHelper {
  let helper: HelpingThread | undefined;
  let lastJob = 0;
  let unitsInLog = 0;

  return {
    cut(texts) {
      if (texts.length < textsMin || availableParallelism() < 2) return cutHere(texts);
      helper ??= start();
      helper.idle.refresh();
      lastJob += 1;
      return cutTogether(helper, lastJob, chunksOf(texts));
    },
    async close() {
      await end(helper);
    },
  };

  /** Not a generator itself, because that would begin with the first question. */
  function cutTogether(own: HelpingThread, job: number, chunks: readonly (readonly IndexedTexts[])[]) {
    const claims = new Int32Array(new SharedArrayBuffer(4 * chunks.length));
    const send = (number: number) => {
      const texts = chunks[number];
      if (texts === undefined || helper !== own) return;
      own.worker.postMessage({ job, number, claims, texts: packTexts(texts) } satisfies CutCall);
    };
    for (let number = 0; number < aheadMax; number += 1) send(number);
    // Behind the chunks, because those are waited for.
    if (unitsInLog >= logUnits) {
      own.worker.postMessage('checkpoint');
      unitsInLog = 0;
    }
    unitsInLog += chunks.flat().reduce((sum, text) => sum + unitsOf(text), 0);
    return (function* () {
      for (const [number, texts] of chunks.entries()) {
        send(number + aheadMax);
        yield* cutByHelper(own, job, number, claims) ?? texts.map(documentTermsOf);
      }
    })();
  }

  /** Undefined if the thread has not begun with the chunk, or does not end. */
  function cutByHelper(
    own: HelpingThread,
    job: number,
    number: number,
    claims: Int32Array,
  ): DocumentTerms[] | undefined {
    if (Atomics.compareExchange(claims, number, claim.free, claim.writer) === claim.free) return undefined;
    if (Atomics.wait(claims, number, claim.helper, waitMs) === 'timed-out') {
      void end(own);
      return undefined;
    }
    // What is left of a write that failed lies before it.
    for (let next = receive(own); next !== undefined; next = receive(own)) {
      if (next.job === job && next.number === number) return unpackTerms(next.terms);
    }
    return undefined;
  }

  function start(): HelpingThread {
    const { port1: replies, port2 } = new MessageChannel();
    const workerData: HelperData = { language: currentLanguage(), replies: port2, path: config.path };
    const worker = startWorker(
      { from: import.meta.url, file: 'write-helper-worker', name: 'carrel-write-help' },
      { workerData, transferList: [port2], resourceLimits: leanLimits },
    );
    const idle = setTimeout(() => void end(started), config.idleMs ?? idleMs);
    const started: HelpingThread = { worker, replies, idle };
    worker.unref();
    idle.unref();
    // Its chunks are tokenised here instead.
    worker.on('error', () => void end(started));
    worker.on('exit', () => void end(started));
    return started;
  }

  async function end(ending: HelpingThread | undefined): Promise<void> {
    if (ending === undefined) return;
    if (helper === ending) helper = undefined;
    clearTimeout(ending.idle);
    ending.replies.close();
    await ending.worker.terminate();
  }
}

/** One by one, as they are asked for. */
export function* cutHere(texts: readonly IndexedTexts[]): Iterable<DocumentTerms> {
  for (const text of texts) yield documentTermsOf(text);
}

function receive({ replies }: HelpingThread): CutReply | undefined {
  return receiveMessageOnPort(replies)?.message;
}

function chunksOf(texts: readonly IndexedTexts[]): IndexedTexts[][] {
  const chunks: IndexedTexts[][] = [];
  let chunk: IndexedTexts[] = [];
  let units = 0;
  for (const text of texts) {
    const own = unitsOf(text);
    if (chunk.length === chunkTexts || (chunk.length > 0 && units + own > chunkUnits)) {
      chunks.push(chunk);
      chunk = [];
      units = 0;
    }
    chunk.push(text);
    units += own;
  }
  chunks.push(chunk);
  return chunks;
}

function unitsOf({ title, heading, body }: IndexedTexts): number {
  return title.length + heading.length + body.length;
}
