import { CarrelError } from '../../../base/errors.ts';
import type { Calls } from '../../../base/workers/calls.ts';
import { createWorkerCalls } from '../../../base/workers/worker-calls.ts';
import { currentLanguage, type Language } from '../../../words/language.ts';
import type { IndexedTexts } from '../../../words/ranking/word-index.ts';
import { type TermRows, termRowsOf } from './term-rows.ts';

export interface TokenizeRequest {
  readonly language: Language;
  readonly texts: readonly IndexedTexts[];
}

/** Tokenises texts. Long texts are tokenised on another thread, because a million characters take a second. */
export interface Tokenizer {
  /** Starts tokenising. Returns a promise for each group of texts, in order. One SQL statement writes a group. */
  tokenize(texts: readonly IndexedTexts[]): readonly Promise<TermRows>[];
  close(): Promise<void>;
}

/** Max texts per group, and their max total length in UTF-16 code units. A single text may be longer. */
const groupTexts = 100;
const groupUnits = 1 << 18;

/** Max total length of texts that are tokenised on this thread, in UTF-16 code units. This takes milliseconds. */
const shortUnits = 32_000;

/** The thread ends after this time without work. */
const idleMs = 10_000;

export function createTokenizer(): Tokenizer {
  let thread: Calls<TokenizeRequest, TermRows> | undefined;
  const idle = setTimeout(() => void end(), idleMs).unref();
  let running = 0;

  return {
    tokenize(texts) {
      const isShort = texts.reduce((sum, text) => sum + unitsOf(text), 0) <= shortUnits;
      const groups = groupsOf(texts).map(async (group) => (isShort ? termRowsOf(group) : callThread(group)));
      // Prevents unhandled rejections: after a failed write, the remaining groups are not awaited.
      for (const rows of groups) rows.catch(() => {});
      return groups;
    },
    async close() {
      clearTimeout(idle);
      await thread?.terminate();
    },
  };

  async function callThread(texts: readonly IndexedTexts[]): Promise<TermRows> {
    if (!thread?.alive) {
      thread = createWorkerCalls({
        from: import.meta.url,
        file: 'tokenizer-worker',
        name: 'carrel-tokenizer',
        exitError,
      });
    }
    running += 1;
    try {
      return await thread.call({ language: currentLanguage(), texts });
    } finally {
      running -= 1;
      idle.refresh();
    }
  }

  async function end(): Promise<void> {
    if (running === 0) await thread?.terminate();
  }
}

function exitError(cause: unknown): CarrelError {
  return new CarrelError('internal', 'The text could not be tokenised. Try again.', { cause });
}

function groupsOf(texts: readonly IndexedTexts[]): IndexedTexts[][] {
  const groups: IndexedTexts[][] = [];
  let units = 0;
  for (const text of texts) {
    const last = groups.at(-1);
    units += unitsOf(text);
    if (last !== undefined && last.length < groupTexts && units <= groupUnits) last.push(text);
    else {
      groups.push([text]);
      units = unitsOf(text);
    }
  }
  return groups;
}

function unitsOf({ title, heading, body }: IndexedTexts): number {
  return title.length + heading.length + body.length;
}
