import { matchedWords } from '../../../answers/explain.ts';
import { createSlots } from '../../../base/slots.ts';
import type { Calls } from '../../../base/workers/calls.ts';
import { createWorkerCalls } from '../../../base/workers/worker-calls.ts';
import { bestPart, type TextPart, type WindowedText } from '../../../search/rerank/best-part.ts';
import { currentLanguage, type Language, useLanguage } from '../../../words/language.ts';
import { findMatches, makeSnippet } from '../../../words/snippet.ts';
import { plainQuery, type WordQuery } from '../../../words/word-query.ts';
import {
  type FittedOutline,
  findNode,
  fitOutline,
  type OutlineBounds,
  type OutlineNode,
  outlineOf,
} from '../show/outline.ts';

export interface TextThread {
  highlight(text: string, query: WordQuery, signal: AbortSignal): Promise<string>;
  /** Returns the part of each text that a model should read. */
  parts(texts: readonly WindowedText[], query: string, signal?: AbortSignal): Promise<readonly TextPart[]>;
  /** Returns an excerpt of each text, around the query's words. */
  excerpts(texts: readonly string[], query: string, signal: AbortSignal): Promise<readonly Excerpt[]>;
  outline(text: string, bounds: OutlineBounds, signal: AbortSignal): Promise<FittedOutline>;
  /** Returns the range of the section with this outline node, if it exists. */
  section(text: string, nodeId: string, signal: AbortSignal): Promise<Section | undefined>;
  close(): Promise<void>;
}

/** Max UTF-16 units that are processed without the thread. */
const shortUnits = 20_000;

/** Creates the thread that processes long texts. It starts on first use and doesn't keep the process alive. */
export function createTextThread(): TextThread {
  let thread: Calls<TextRequest, TextAnswer> | undefined;
  // Sends one request at a time, because a queued request would keep a second copy of its texts.
  const slot = createSlots({ runningMax: 1, waitingMax: Number.POSITIVE_INFINITY });
  const perform = async (request: TextRequest, signal?: AbortSignal): Promise<TextAnswer> => {
    if (unitsOf(request) <= shortUnits) return performTextRequest(request);
    const release = await slot.acquire(signal);
    try {
      if (!thread?.alive) {
        thread = createWorkerCalls({
          from: import.meta.url,
          file: 'text-worker',
          name: 'carrel-texts',
          exitError: (cause) => new Error('the text thread stopped unexpectedly', { cause }),
        });
      }
      return await thread.call(request, signal);
    } finally {
      release();
    }
  };
  // The casts are safe: performTextRequest answers each kind of request with its type, but messages are untyped.
  return {
    async highlight(text, query, signal) {
      return (await perform({ kind: 'highlight', text, query, language: currentLanguage() }, signal)) as string;
    },
    async parts(texts, query, signal) {
      const sent = texts.map(({ text, window }) => ({ text, window }));
      return (await perform({ kind: 'parts', texts: sent, query, language: currentLanguage() }, signal)) as TextPart[];
    },
    async excerpts(texts, query, signal) {
      return (await perform({ kind: 'excerpts', texts, query, language: currentLanguage() }, signal)) as Excerpt[];
    },
    async outline(text, bounds, signal) {
      return (await perform({ kind: 'outline', text, bounds }, signal)) as FittedOutline;
    },
    async section(text, nodeId, signal) {
      return (await perform({ kind: 'section', text, nodeId }, signal)) as Section | undefined;
    },
    async close() {
      await thread?.terminate();
    },
  };
}

/** A request that is slow for long texts. */
type TextRequest =
  // Words are compared by stem, and the thread has its own language setting. So requests contain the language.
  | { readonly kind: 'highlight'; readonly text: string; readonly query: WordQuery; readonly language: Language }
  | {
      readonly kind: 'parts';
      readonly texts: readonly WindowedText[];
      readonly query: string;
      readonly language: Language;
    }
  | {
      readonly kind: 'excerpts';
      readonly texts: readonly string[];
      readonly query: string;
      readonly language: Language;
    }
  | { readonly kind: 'outline'; readonly text: string; readonly bounds: OutlineBounds }
  | { readonly kind: 'section'; readonly text: string; readonly nodeId: string };

export type Section = Pick<OutlineNode, 'char_start' | 'char_end'>;

/** The excerpt of a text that a hit shows. */
export interface Excerpt {
  readonly snippet: string;
  /** The snippet's position in the text, in UTF-16 units. */
  readonly range: readonly [start: number, end: number];
  /** The query's words that occur in the text. */
  readonly words: readonly string[];
}

type TextAnswer = string | readonly TextPart[] | readonly Excerpt[] | FittedOutline | Section | undefined;

/** Returns the number of UTF-16 units to process. */
function unitsOf(request: TextRequest): number {
  if (request.kind === 'parts') return request.texts.reduce((sum, { text }) => sum + text.length, 0);
  if (request.kind === 'excerpts') return request.texts.reduce((sum, text) => sum + text.length, 0);
  return request.text.length;
}

export async function performTextRequest(request: TextRequest): Promise<TextAnswer> {
  if (request.kind === 'outline') return fitOutline(request.text, request.bounds);
  if (request.kind === 'section') {
    const node = findNode(outlineOf(request.text, 6), request.nodeId);
    return node && { char_start: node.char_start, char_end: node.char_end };
  }
  await useLanguage(request.language);
  if (request.kind === 'parts') return request.texts.map((each) => bestPart(each, request.query));
  if (request.kind === 'excerpts') {
    const { query } = request;
    return request.texts.map((text) => {
      const { text: snippet, range } = makeSnippet(text, plainQuery(query));
      return { snippet, range, words: matchedWords(query, text) };
    });
  }
  return highlight(request.text, request.query);
}

/** Returns the whole text with `<mark>` around matches. `<mark>` in the text itself is escaped. */
export function highlight(text: string, query: WordQuery): string {
  let result = '';
  let at = 0;
  for (const { start, end } of findMatches(text, query)) {
    if (start < at) continue;
    result += `${escapeMarks(text.slice(at, start))}<mark>${escapeMarks(text.slice(start, end))}</mark>`;
    at = end;
  }
  return result + escapeMarks(text.slice(at));
}

function escapeMarks(text: string): string {
  return text.replace(/<(\/?mark>)/gi, '&lt;$1');
}
