import { createSlots } from '../../../base/slots.ts';
import type { Calls } from '../../../base/workers/calls.ts';
import { createWorkerCalls } from '../../../base/workers/worker-calls.ts';
import type { TextPart, Windowed } from '../../../search/reranking/best-part.ts';
import { currentLanguage } from '../../../words/language.ts';
import type { WordQuery } from '../../../words/word-query.ts';
import type { FittedOutline, OutlineBounds } from '../show/fit-outline.ts';
import {
  type Excerpt,
  performTextRequest,
  type Section,
  type TextAnswer,
  type TextRequest,
  unitsOf,
} from './text-requests.ts';

export interface TextThread {
  highlight(text: string, query: WordQuery, signal: AbortSignal): Promise<string>;
  /** The part of each text that a model should read. */
  parts(texts: readonly Windowed[], query: string, signal?: AbortSignal): Promise<readonly TextPart[]>;
  /** What hits for a query show of these texts. */
  excerpts(texts: readonly string[], query: string, signal: AbortSignal): Promise<readonly Excerpt[]>;
  outline(text: string, bounds: OutlineBounds, signal: AbortSignal): Promise<FittedOutline>;
  /** The part of a text that a node of its outline stands for. */
  section(text: string, nodeId: string, signal: AbortSignal): Promise<Section | undefined>;
  close(): Promise<void>;
}

/** Texts up to this length take a millisecond or two: not worth a thread. */
const shortUnits = 20_000;

/** The thread starts with the first long text and does not keep the process alive. */
export function createTextThread(): TextThread {
  let thread: Calls<TextRequest, TextAnswer> | undefined;
  // It does one thing at a time; what waits there would be a second copy of its texts.
  const turns = createSlots({ runningMax: 1, waitingMax: Number.POSITIVE_INFINITY });
  const ask = async (request: TextRequest, signal?: AbortSignal): Promise<TextAnswer> => {
    if (unitsOf(request) <= shortUnits) return performTextRequest(request);
    const leave = await turns.acquire(signal);
    try {
      if (!thread?.alive) {
        thread = createWorkerCalls({
          from: import.meta.url,
          file: 'text-worker',
          name: 'carrel-texts',
          lean: true,
          lost: (cause) => new Error('the thread for long texts was lost', { cause }),
        });
      }
      return await thread.call(request, signal);
    } finally {
      leave();
    }
  };
  // Which answer belongs to which request is in text-requests; a message cannot carry that proof.
  return {
    async highlight(text, query, signal) {
      return (await ask({ kind: 'highlight', text, query, language: currentLanguage() }, signal)) as string;
    },
    async parts(texts, query, signal) {
      const sent = texts.map(({ text, window }) => ({ text, window }));
      return (await ask({ kind: 'parts', texts: sent, query, language: currentLanguage() }, signal)) as TextPart[];
    },
    async excerpts(texts, query, signal) {
      return (await ask({ kind: 'excerpts', texts, query, language: currentLanguage() }, signal)) as Excerpt[];
    },
    async outline(text, bounds, signal) {
      return (await ask({ kind: 'outline', text, bounds }, signal)) as FittedOutline;
    },
    async section(text, nodeId, signal) {
      return (await ask({ kind: 'section', text, nodeId }, signal)) as Section | undefined;
    },
    async close() {
      await thread?.terminate();
    },
  };
}
