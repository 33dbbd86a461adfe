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
  type GrepFound,
  type GrepPattern,
  type GrepRequest,
  type LineMatch,
  type MatchPlace,
} from './grep-text.ts';

interface GrepSearch {
  readonly pattern: GrepPattern;
  readonly filter: EntryFilter;
  readonly entriesMax: number;
  readonly matchesMax: number;
  /** Max bytes of all matches in an answer. */
  readonly bytesMax: number;
  /** Where to start; by default at the beginning. */
  readonly from?: EntryPlace | undefined;
  readonly signal: AbortSignal;
}

export interface EntryPlace extends MatchPlace {
  readonly id: number;
}

interface GrepOutcome {
  readonly entries: { readonly id: number; readonly matches: readonly LineMatch[] }[];
  readonly scanned: number;
  /** Where to continue if a limit of entries, matches, bytes or time was reached. */
  readonly next: EntryPlace | undefined;
  readonly timedOutIds: readonly number[];
}

/**
 * First and max entries per batch. The number doubles, or halves after a batch of more than `batchUnits` UTF-16
 * units.
 */
const batchMin = 5;
const batchMax = 100;
const batchUnits = 1_000_000;
const entryTimeoutMs = 1_000;
const totalTimeoutMs = 10_000;
/** Max entries that may time out before a search stops. */
const timeoutsMax = 3;

/** Limits concurrent searches: each holds a thread and its texts in memory. */
const searches = createSlots({ runningMax: 4, waitingMax: Number.POSITIVE_INFINITY });

/** Searches texts in id order, on a thread that is terminated if a text takes too long. */
export async function grepEntries(entries: EntryStore, search: GrepSearch): Promise<GrepOutcome> {
  checkPattern(search.pattern);
  const leave = await searches.acquire(search.signal);
  try {
    return await grepInTurn(entries, search);
  } finally {
    leave();
  }
}

async function grepInTurn(entries: EntryStore, search: GrepSearch): Promise<GrepOutcome> {
  const { pattern, filter, entriesMax, signal, from } = search;
  let deadline = performance.now() + totalTimeoutMs;
  const found: { id: number; matches: LineMatch[] }[] = [];
  const timedOutIds: number[] = [];
  let thread = startThread(pattern);
  let scanned = 0;
  let matchesMax = search.matchesMax;
  let bytesMax = search.bytesMax;
  let batch = batchMin;
  try {
    for (let after = (from?.id ?? 1) - 1; ; ) {
      const limit = Math.min(batch, entriesMax - scanned);
      const texts = await entries.texts({ filter, after, limit: Math.max(limit, 1) }, { signal });
      const [first] = texts;
      if (first === undefined) return outcome(undefined);
      if (limit <= 0) return outcome(startOf(first.id));
      const units = texts.reduce((sum, { text }) => sum + text.length, 0);
      batch = units > batchUnits ? Math.max(1, batch >> 1) : Math.min(batchMax, 2 * batch);
      for (const { id, text } of texts) {
        signal.throwIfAborted();
        const position = id === from?.id ? from : startOf(id);
        if (performance.now() > deadline || timedOutIds.length >= timeoutsMax) return outcome(position);
        after = id;
        scanned += 1;
        const startedMs = performance.now();
        const lines = await grepOn(thread, { text, from: position, matchesMax, bytesMax });
        if (lines === undefined) {
          // The time for this text doesn't count against the deadline, because a timeout takes longer on a busy
          // machine.
          deadline += performance.now() - startedMs;
          timedOutIds.push(id);
          thread = startThread(pattern);
          continue;
        }
        const { matches, next } = lines;
        if (matches.length > 0) found.push({ id, matches });
        if (next !== undefined) return outcome({ id, ...next });
        matchesMax -= matches.length;
        bytesMax -= wireBytes(matches, 2);
      }
    }
  } finally {
    await thread.terminate();
  }

  function outcome(next: EntryPlace | undefined): GrepOutcome {
    return { entries: found, scanned, next, timedOutIds };
  }
}

function startOf(id: number): EntryPlace {
  return { id, line: 1, skip: 0 };
}

function checkPattern(pattern: GrepPattern): void {
  try {
    compile(pattern);
  } catch (error) {
    throw new CarrelError('invalid_arguments', 'pattern is not a valid regular expression (JavaScript syntax)', {
      cause: error,
    });
  }
}

type GrepThread = Calls<GrepRequest, GrepFound>;

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
async function grepOn(thread: GrepThread, request: GrepRequest): Promise<GrepFound | undefined> {
  // The start of the thread must not count against the timeout.
  await thread.ready();
  try {
    return await withTimeout(thread, thread.call(request), { timeoutMs: entryTimeoutMs, timeoutError: () => timedOut });
  } catch (error) {
    if (error === timedOut) return undefined;
    throw error;
  }
}
