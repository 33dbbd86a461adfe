import type { ClaimedRun } from '../storage/web/runs.ts';

/** Summary of a run, shown to people. */
export interface RunSummary {
  new: number;
  changed: number;
  unchanged: number;
  /** Documents moved to the trash because their page was missing twice, or no longer allows indexing. */
  gone: number;
  /** Pages with nearly the same text as another one. */
  duplicates: number;
  failed: number;
  /** Pages that robots.txt or the page itself excludes, or that have no text. */
  skipped: number;
  /** Why pages failed or were skipped. Shown with the most frequent reason first. */
  reasons: { reason: string; pages: number; example: string }[];
  /** Limits that were reached: `pages`, `depth`, `bytes`, `cpu` or `calendar` (too many URLs of one pattern). */
  limits: string[];
  bytes: number;
  cpu_seconds: number;
}

/** Everything that another process needs to continue the run. */
export interface RunState {
  readonly source: number;
  /** All pages up to this key have been visited. */
  cursor: number;
  /** The source's URL, after redirects. */
  root: string;
  visited: number;
  cpuMs: number;
  summary: RunSummary;
}

const reasonsMax = 20;

export function stateOf({ source, state }: ClaimedRun): RunState {
  // Either a `RunState` that an earlier process saved, or empty for a new run.
  const stored = state as Partial<RunState>;
  return {
    source: source.id,
    cursor: stored.cursor ?? 0,
    root: stored.root ?? source.url,
    visited: stored.visited ?? 0,
    cpuMs: stored.cpuMs ?? 0,
    summary: stored.summary ?? {
      ...{ new: 0, changed: 0, unchanged: 0, gone: 0, duplicates: 0, failed: 0, skipped: 0 },
      ...{ reasons: [], limits: [], bytes: 0, cpu_seconds: 0 },
    },
  };
}

export function noteReason({ summary }: RunState, outcome: 'failed' | 'skipped', reason: string, url: string): void {
  summary[outcome] += 1;
  const known = summary.reasons.find((each) => each.reason === reason);
  if (known !== undefined) known.pages += 1;
  else if (summary.reasons.length < reasonsMax) summary.reasons.push({ reason, pages: 1, example: url });
}

export function noteLimit({ summary }: RunState, limit: string): void {
  if (!summary.limits.includes(limit)) summary.limits.push(limit);
}
