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

/** Tokenises texts; long ones on a thread, because a million characters take a second. */
export interface Tokenizer {
  /** Starts at once, in groups of as many texts as one statement carries, in order. */
  tokenize(texts: readonly IndexedTexts[]): readonly Promise<TermRows>[];
  close(): Promise<void>;
}

/** Max texts per statement, and max total length unless one alone is longer. */
const groupTexts = 100;
const groupUnits = 1 << 18;

/** Texts of this total length take some milliseconds, or tens of them without spaces between the words. */
const shortUnits = 32_000;

/** The thread ends after this long without work. */
const idleMs = 10_000;

export function createTokenizer(): Tokenizer {
  let thread: Calls<TokenizeRequest, TermRows> | undefined;
  const idle = setTimeout(() => void end(), idleMs).unref();
  let asked = 0;

  return {
    tokenize(texts) {
      const isShort = texts.reduce((sum, text) => sum + unitsOf(text), 0) <= shortUnits;
      const groups = groupsOf(texts).map(async (group) => (isShort ? termRowsOf(group) : ask(group)));
      // A failed write doesn't wait for the rest.
      for (const rows of groups) rows.catch(() => {});
      return groups;
    },
    async close() {
      clearTimeout(idle);
      await thread?.terminate();
    },
  };

  async function ask(texts: readonly IndexedTexts[]): Promise<TermRows> {
    if (!thread?.alive) {
      thread = createWorkerCalls({
        from: import.meta.url,
        file: 'tokenizer-worker',
        name: 'carrel-tokenizer',
        lean: true,
        lost,
      });
    }
    asked += 1;
    try {
      return await thread.call({ language: currentLanguage(), texts });
    } finally {
      asked -= 1;
      idle.refresh();
    }
  }

  async function end(): Promise<void> {
    if (asked === 0) await thread?.terminate();
  }
}

function lost(cause: unknown): CarrelError {
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
