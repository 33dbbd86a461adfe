import { availableParallelism } from 'node:os';
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type { DocumentTerms } from '../../words/bm25.ts';
import { documentTermsOf } from '../../words/document-terms.ts';
import { currentLanguage } from '../../words/language.ts';
import type { IndexedTexts } from '../word-index.ts';
import { packTexts, unpackTerms } from './packed-terms.ts';
import { type CutCall, type CutReply, type CutterData, claim } from './term-messages.ts';

/** Cuts the texts of a write into terms while their rows are being written. */
export interface TermCutter {
  /** Begins at once. The terms come in the order of the texts. */
  cut(texts: readonly IndexedTexts[]): Iterable<DocumentTerms>;
  close(): void;
}

/** Fewer texts are cut sooner than they are sent. */
const textsMin = 32;

/** Texts of one message, and the length that they have at most unless one alone is longer. */
const chunkTexts = 64;
const chunkUnits = 1 << 18;

/** Messages that are on their way, so that a long document is not in memory several times. */
const aheadMax = 32;

/** Cutting a chunk takes a few milliseconds. A thread that needs longer than this is lost. */
const waitMs = 2000;

/** After so long without work the thread ends. */
const idleMs = 10_000;

interface Helper {
  readonly worker: Worker;
  readonly replies: MessagePort;
  readonly idle: NodeJS.Timeout;
}

/**
 * The thread that helps starts with the first large write. Whoever comes first takes a chunk, the thread or the one that
 * writes: so a thread that is busy, late or dead costs time at most.
 */
export function createTermCutter(config: { readonly idleMs?: number } = {}): TermCutter {
  let helper: Helper | undefined;
  let lastJob = 0;

  return {
    cut(texts) {
      if (texts.length < textsMin || availableParallelism() < 2) return cutHere(texts);
      helper ??= start();
      helper.idle.refresh();
      lastJob += 1;
      return cutTogether(helper, lastJob, chunksOf(texts));
    },
    close: () => end(helper),
  };

  /** Not a generator itself, because that would begin with the first question. */
  function cutTogether(own: Helper, job: number, chunks: readonly (readonly IndexedTexts[])[]) {
    const claims = new Int32Array(new SharedArrayBuffer(4 * chunks.length));
    const send = (number: number) => {
      const texts = chunks[number];
      if (texts === undefined || helper !== own) return;
      own.worker.postMessage({ job, number, claims, texts: packTexts(texts) } satisfies CutCall);
    };
    for (let number = 0; number < aheadMax; number += 1) send(number);
    return (function* () {
      for (const [number, texts] of chunks.entries()) {
        send(number + aheadMax);
        yield* cutByHelper(own, job, number, claims) ?? texts.map(documentTermsOf);
      }
    })();
  }

  /** Undefined if the thread has not begun with the chunk, or does not end. */
  function cutByHelper(own: Helper, job: number, number: number, claims: Int32Array): DocumentTerms[] | undefined {
    if (Atomics.compareExchange(claims, number, claim.free, claim.writer) === claim.free) return undefined;
    if (Atomics.wait(claims, number, claim.helper, waitMs) === 'timed-out') {
      end(own);
      return undefined;
    }
    // What is left of a write that failed lies before it.
    for (let next = receive(own); next !== undefined; next = receive(own)) {
      if (next.job === job && next.number === number) return unpackTerms(next.terms);
    }
    return undefined;
  }

  function start(): Helper {
    const { port1: replies, port2 } = new MessageChannel();
    const workerData: CutterData = { language: currentLanguage(), replies: port2 };
    const worker = new Worker(workerUrl, { workerData, transferList: [port2], name: 'carrel-terms', execArgv: [] });
    const idle = setTimeout(() => end(started), config.idleMs ?? idleMs);
    const started: Helper = { worker, replies, idle };
    worker.unref();
    idle.unref();
    // It is missed by nobody: its chunks are cut here.
    worker.on('error', () => end(started));
    worker.on('exit', () => end(started));
    return started;
  }

  function end(ending: Helper | undefined): void {
    if (ending === undefined) return;
    if (helper === ending) helper = undefined;
    clearTimeout(ending.idle);
    ending.replies.close();
    void ending.worker.terminate();
  }
}

/** One by one, as they are asked for. */
export function* cutHere(texts: readonly IndexedTexts[]): Iterable<DocumentTerms> {
  for (const text of texts) yield documentTermsOf(text);
}

// Bundled, all files lie in one folder.
const workerUrl = new URL(import.meta.url.endsWith('.ts') ? './terms-worker.ts' : './terms-worker.js', import.meta.url);

function receive({ replies }: Helper): CutReply | undefined {
  return receiveMessageOnPort(replies)?.message;
}

function chunksOf(texts: readonly IndexedTexts[]): IndexedTexts[][] {
  const chunks: IndexedTexts[][] = [];
  let chunk: IndexedTexts[] = [];
  let units = 0;
  for (const text of texts) {
    const own = text.title.length + text.heading.length + text.body.length;
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
