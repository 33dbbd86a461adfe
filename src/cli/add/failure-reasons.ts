import type { AddEvent } from './add-event.ts';

type GroupedEvent = Extract<AddEvent, { event: 'failed' | 'duplicate' }>;

interface Reason {
  readonly text: string;
  readonly paths: string[];
  count: number;
}

export interface Reasons {
  add(event: GroupedEvent): void;
  /** Returns one line per reason, with its count and first files, then resets. */
  take(): string[];
}

const pathsMax = 3;

/** Groups failures by reason, because many files usually fail for the same few reasons. */
export function createReasons(): Reasons {
  const reasons = new Map<string, Reason>();
  return {
    add(event) {
      const text = event.event === 'failed' ? `failed: ${event.error}` : 'already stored (same bytes)';
      // Messages that differ only in a number or incident id share a reason.
      const key = text.replace(/[0-9a-f]{8}-[0-9a-f-]{27}|\d+/g, '#');
      const reason = reasons.get(key) ?? { text, paths: [], count: 0 };
      reasons.set(key, reason);
      reason.count += 1;
      if (reason.paths.length < pathsMax) reason.paths.push(`${event.path}${describeOwner(event)}`);
    },
    take() {
      const sorted = [...reasons.values()].sort((left, right) => right.count - left.count);
      reasons.clear();
      return sorted.flatMap(({ text, paths, count }) => [
        `${count} ${text}`,
        ...paths.map((path) => `  ${path}`),
        ...(count > paths.length ? [`  and ${count - paths.length} more`] : []),
      ]);
    },
  };
}

function describeOwner(event: GroupedEvent): string {
  if (event.event === 'failed') return '';
  const { document_id, job_id } = event;
  if (document_id !== undefined) return ` (document ${document_id})`;
  return job_id === undefined ? '' : ` (job ${job_id})`;
}
