import { CarrelError } from '../../../base/errors.ts';
import { createSlots } from '../../../base/slots.ts';
import { wireBytes } from '../../../base/wire-bytes.ts';
import type { Calls } from '../../../base/workers/calls.ts';
import { withTimeout } from '../../../base/workers/with-timeout.ts';
import { createWorkerCalls } from '../../../base/workers/worker-calls.ts';
import type { EntryFilter } from '../../../storage/entries/entry.ts';
import type { EntryStore } from '../../../storage/entries/entry-store.ts';
import {
  compile,
  type GrepPattern,
  type GrepRequest,
  type GrepResult,
  type LineMatch,
  type LinePosition,
} from './grep-text.ts';

interface GrepSearch {
  readonly pattern: GrepPattern;
  readonly filter: EntryFilter;
  readonly entriesMax: number;
  readonly matchesMax: number;
  /** Max bytes of all matches in an answer. */
  readonly bytesMax: number;
  /** The first match to return; by default the first of all. */
  readonly from?: MatchPosition | undefined;
  readonly signal: AbortSignal;
}

/** The position of a match, for continuing a search. */
export interface MatchPosition extends LinePosition {
  /** Id of the entry. */
  readonly id: number;
}

interface GrepOutcome {
  readonly entries: { readonly id: number; readonly matches: readonly LineMatch[] }[];
  readonly scanned: number;
  /** The next match, if a limit of entries, matches, bytes or time was reached. */
  readonly next: MatchPosition | undefined;
  readonly timedOutIds: readonly number[];
}

/** Entries in the first batch. Each batch doubles the size, or halves it if its texts exceed `batchUnitsMax`. */
const firstBatchSize = 5;
const batchSizeMax = 100;
const batchUnitsMax = 1_000_000;
const entryTimeoutMs = 1_000;
const totalTimeoutMs = 10_000;
/** Max entries that may time out before a search stops. */
const timeoutsMax = 3;

/** Limits concurrent searches, because each has a thread and texts in memory. */
const slots = createSlots({ runningMax: 4, waitingMax: 64 });

/** Searches texts in id order, on a thread that is terminated if a text takes too long. */
export async function grepEntries(entries: EntryStore, search: GrepSearch): Promise<GrepOutcome> {
  checkPattern(search.pattern);
  const release = await slots.acquire(search.signal);
  return searchEntries(entries, search).finally(release);
}

async function searchEntries(entries: EntryStore, search: GrepSearch): Promise<GrepOutcome> {
  const { pattern, filter, entriesMax, signal, from } = search;
  let deadline = performance.now() + totalTimeoutMs;
  const found: { id: number; matches: LineMatch[] }[] = [];
  const timedOutIds: number[] = [];
  let thread = startThread(pattern);
  let scanned = 0;
  let matchesMax = search.matchesMax;
  let bytesMax = search.bytesMax;
  let batchSize = firstBatchSize;
  try {
    for (let after = (from?.id ?? 1) - 1; ; ) {
      const limit = Math.min(batchSize, entriesMax - scanned);
      const texts = await entries.texts({ filter, after, limit: Math.max(limit, 1) }, { signal });
      const [first] = texts;
      if (first === undefined) return outcome(undefined);
      if (limit <= 0) return outcome(startOf(first.id));
      const units = texts.reduce((sum, { text }) => sum + text.length, 0);
      batchSize = units > batchUnitsMax ? Math.max(1, batchSize >> 1) : Math.min(batchSizeMax, 2 * batchSize);
      for (const { id, text } of texts) {
        signal.throwIfAborted();
        const position = id === from?.id ? from : startOf(id);
        if (performance.now() > deadline || timedOutIds.length >= timeoutsMax) return outcome(position);
        after = id;
        scanned += 1;
        const startedMs = performance.now();
        const result = await grepWithTimeout(thread, { text, from: position, matchesMax, bytesMax });
        if (result === undefined) {
          // The time spent on this text doesn't count: on a busy machine, it can far exceed the timeout.
          deadline += performance.now() - startedMs;
          timedOutIds.push(id);
          thread = startThread(pattern);
          continue;
        }
        const { matches, next } = result;
        if (matches.length > 0) found.push({ id, matches });
        if (next !== undefined) return outcome({ id, ...next });
        matchesMax -= matches.length;
        bytesMax -= wireBytes(matches, 2);
      }
    }
  } finally {
    await thread.terminate();
  }

  function outcome(next: MatchPosition | undefined): GrepOutcome {
    return { entries: found, scanned, next, timedOutIds };
  }
}

function startOf(id: number): MatchPosition {
  return { id, line: 1, skip: 0 };
}

function checkPattern(pattern: GrepPattern): void {
  try {
    compile(pattern);
  } catch (error) {
    throw new CarrelError(
      'invalid_arguments',
      'pattern must be a valid regular expression (JavaScript syntax), or is_regex must be false',
      {
        cause: error,
      },
    );
  }
}

type GrepThread = Calls<GrepRequest, GrepResult>;

function startThread(workerData: GrepPattern): GrepThread {
  return createWorkerCalls({
    from: import.meta.url,
    file: 'grep-worker',
    name: 'carrel-grep',
    workerData,
    exitError: (cause) => new Error('the grep thread stopped unexpectedly', { cause }),
  });
}

const timedOut = new Error('the pattern timed out');

/** Searches one text. On timeout, terminates the thread and returns undefined. */
async function grepWithTimeout(thread: GrepThread, request: GrepRequest): Promise<GrepResult | undefined> {
  // Waits for the thread first, so that its start does not count against the timeout.
  await thread.ready();
  try {
    return await withTimeout(thread, thread.call(request), { timeoutMs: entryTimeoutMs, timeoutError: () => timedOut });
  } catch (error) {
    if (error === timedOut) return undefined;
    throw error;
  }
}
