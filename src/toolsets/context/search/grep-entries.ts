import { CarrelError } from '../../../base/errors.ts';
import type { Calls } from '../../../base/workers/calls.ts';
import { withinTime } from '../../../base/workers/within-time.ts';
import { createWorkerCalls } from '../../../base/workers/worker-calls.ts';
import type { EntryStore } from '../../../storage/contracts/entries.ts';
import type { EntryFilter } from '../../../storage/contracts/entry-filter.ts';
import { compile, type GrepPattern, type LineMatch } from './grep-text.ts';

export interface GrepRequest {
  readonly pattern: GrepPattern;
  readonly filter: EntryFilter;
  readonly entriesMax: number;
  readonly signal: AbortSignal;
}

export interface GrepOutcome {
  readonly entries: { readonly id: number; readonly matches: readonly LineMatch[] }[];
  readonly scanned: number;
  /** A limit of entries, matches or time was reached, so there may be more. */
  readonly truncated: boolean;
  readonly timedOutIds: readonly number[];
}

const batchSize = 100;
const entryTimeoutMs = 1_000;
const totalTimeoutMs = 10_000;
/** After this many entries on which a pattern took too long, the search is given up. */
const timeoutsMax = 3;

/** Searches the texts in the order of their ids, on a thread that is terminated when a text takes too long. */
export async function grepEntries(entries: EntryStore, request: GrepRequest): Promise<GrepOutcome> {
  const { pattern, filter, entriesMax, signal } = request;
  checkPattern(pattern);
  const deadline = performance.now() + totalTimeoutMs;
  const found: { id: number; matches: LineMatch[] }[] = [];
  const timedOutIds: number[] = [];
  // One more than is shown, to know whether there are more.
  const sought = { ...pattern, matchesMax: pattern.matchesMax + 1 };
  let thread = startThread(sought);
  let scanned = 0;
  let matches = 0;
  try {
    for (let after = 0; ; ) {
      const limit = Math.min(batchSize, entriesMax - scanned);
      const texts = limit > 0 ? await entries.texts({ filter, after, limit }, { signal }) : [];
      if (texts.length === 0) return outcome(limit === 0 && (await isMore(after)));
      for (const { id, text } of texts) {
        signal.throwIfAborted();
        if (performance.now() > deadline || timedOutIds.length >= timeoutsMax) {
          return outcome(true);
        }
        after = id;
        scanned += 1;
        const lines = await grepOn(thread, text);
        if (lines === undefined) {
          timedOutIds.push(id);
          thread = startThread(sought);
          continue;
        }
        const kept = lines.slice(0, pattern.matchesMax - matches);
        matches += kept.length;
        if (kept.length > 0) found.push({ id, matches: kept });
        if (kept.length < lines.length) return outcome(true);
      }
    }
  } finally {
    await thread.terminate();
  }

  async function isMore(after: number): Promise<boolean> {
    return (await entries.texts({ filter, after, limit: 1 }, { signal })).length > 0;
  }

  function outcome(truncated: boolean): GrepOutcome {
    return { entries: found, scanned, truncated: truncated || timedOutIds.length > 0, timedOutIds };
  }
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

type GrepThread = Calls<string, LineMatch[]>;

function startThread(workerData: GrepPattern): GrepThread {
  return createWorkerCalls({
    from: import.meta.url,
    file: 'grep-worker',
    name: 'carrel-grep',
    workerData,
    lost: (cause) => new Error('the thread that greps was lost', { cause }),
  });
}

const overdue = new Error('the pattern ran away');

/** Undefined if it took too long; the thread is then terminated. */
async function grepOn(thread: GrepThread, text: string): Promise<LineMatch[] | undefined> {
  // The time to start a thread does not count against the pattern.
  await thread.ready();
  try {
    return await withinTime(thread, thread.call(text), { timeoutMs: entryTimeoutMs, overdue: () => overdue });
  } catch (error) {
    if (error === overdue) return undefined;
    throw error;
  }
}
