import { BoundedMap } from '../base/bounded-map.ts';

/** One recorded tool call. */
export interface CallRecord {
  /** Milliseconds since 1970. */
  at: number;
  tool: string;
  /** The caller: a token's name, or an address. */
  caller: string;
  /** Identity and rights of the caller's token; undefined without one. */
  owner?: string | undefined;
  /** The query, shortened. */
  query: string;
  /** Number of results; undefined if the answer has no list. */
  results?: number | undefined;
  /** The client's own name for itself; empty if it reports none. */
  client: string;
  ms: number;
  /** Estimated tokens of the answer. */
  tokens: number;
  /** `ok`, or the code of the error. */
  outcome: string;
}

/** Figures for an interval of ten minutes, for plots. */
export interface Interval {
  at: number;
  calls: number;
  failures: number;
  /** The longest call. */
  msMax: number;
  /** Max number of files queued or processing; undefined if no sample was taken. */
  queue?: number;
  /** Size of all stored data at the end of the interval. */
  storageBytes?: number;
}

/** Queue and storage at one moment. */
export interface Sample {
  at: number;
  queue: number;
  storageBytes: number;
}

/** Selects calls. Empty or absent fields match every call. */
export interface CallFilter {
  owner?: string | undefined;
  tool?: string | undefined;
  client?: string | undefined;
  outcome?: 'ok' | 'failed' | undefined;
  /** Part of the query, tool or caller, ignoring case. */
  text?: string | undefined;
}

/** Counts of calls, and the latest calls one by one. Kept in memory, so a restart clears them. */
export interface Activity {
  record(call: CallRecord): void;
  sample(sample: Sample): void;
  /** Returns the latest calls that match, newest first. */
  latest(filter?: CallFilter): CallRecord[];
  /** Returns all intervals of the last day, oldest first, including empty ones. */
  intervals(now: number): Interval[];
  byTool(): ToolFigures[];
}

export interface ToolFigures {
  tool: string;
  calls: number;
  failures: number;
  msMean: number;
  tokens: number;
}

const latestMax = 500;
const intervalMs = 10 * 60_000;
const intervalsMax = (24 * 60 * 60_000) / intervalMs;

export function createActivity(): Activity {
  const latest: CallRecord[] = [];
  const intervals = new BoundedMap<number, Interval>(intervalsMax);
  const tools = new Map<string, { calls: number; failures: number; ms: number; tokens: number }>();

  const intervalAt = (at: number): Interval => {
    const start = at - (at % intervalMs);
    const existing = intervals.get(start);
    if (existing !== undefined) return existing;
    const interval = { at: start, calls: 0, failures: 0, msMax: 0 };
    intervals.set(start, interval);
    return interval;
  };

  return {
    record(call) {
      latest.push(call);
      if (latest.length > latestMax) latest.shift();
      const failed = call.outcome === 'ok' ? 0 : 1;
      const interval = intervalAt(call.at);
      interval.calls += 1;
      interval.failures += failed;
      interval.msMax = Math.max(interval.msMax, call.ms);
      const figures = tools.get(call.tool) ?? { calls: 0, failures: 0, ms: 0, tokens: 0 };
      figures.calls += 1;
      figures.failures += failed;
      figures.ms += call.ms;
      figures.tokens += call.tokens;
      tools.set(call.tool, figures);
    },
    sample({ at, queue, storageBytes }) {
      const interval = intervalAt(at);
      interval.queue = Math.max(interval.queue ?? 0, queue);
      interval.storageBytes = storageBytes;
    },
    latest: (filter = {}) => latest.filter((call) => matches(call, filter)).toReversed(),
    intervals(now) {
      const last = now - (now % intervalMs);
      return Array.from({ length: intervalsMax }, (_, index) => {
        const at = last - (intervalsMax - 1 - index) * intervalMs;
        return intervals.get(at) ?? { at, calls: 0, failures: 0, msMax: 0 };
      });
    },
    byTool: () =>
      [...tools]
        .map(([tool, { calls, failures, ms, tokens }]) => ({ tool, calls, failures, msMean: ms / calls, tokens }))
        .toSorted((a, b) => b.calls - a.calls),
  };
}

function matches(call: CallRecord, { owner, tool, client, outcome, text }: CallFilter): boolean {
  const searchText = text?.toLowerCase() ?? '';
  return (
    (owner === undefined || call.owner === owner) &&
    (!tool || call.tool === tool) &&
    (!client || clientOf(call) === client) &&
    (!outcome || (call.outcome === 'ok') === (outcome === 'ok')) &&
    (searchText === '' || [call.query, call.tool, call.caller].some((each) => each.toLowerCase().includes(searchText)))
  );
}

/** Returns the client's name, or the caller's if the client reports none. */
export function clientOf({ client, caller }: Pick<CallRecord, 'client' | 'caller'>): string {
  return client === '' ? caller : client;
}
