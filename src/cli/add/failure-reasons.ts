import type { AddEvent } from './add-event.ts';

type Gathered = Extract<AddEvent, { event: 'failed' | 'duplicate' }>;

interface Reason {
  readonly text: string;
  readonly paths: string[];
  count: number;
}

export interface Reasons {
  add(event: Gathered): void;
  /** The lines to print: each reason with how many files it concerns and the first of them. Empties it. */
  take(): string[];
}

const pathsMax = 3;

/** Of many files few things go wrong: one block for each reason is read, a line for each file is not. */
export function createReasons(): Reasons {
  const reasons = new Map<string, Reason>();
  return {
    add(event) {
      const text = event.event === 'failed' ? `failed: ${event.error}` : 'already there: the same bytes are stored';
      // Messages that differ only in a number or an incident are one reason.
      const key = text.replace(/[0-9a-f]{8}-[0-9a-f-]{27}|\d+/g, '#');
      const reason = reasons.get(key) ?? { text, paths: [], count: 0 };
      reasons.set(key, reason);
      reason.count += 1;
      if (reason.paths.length < pathsMax) reason.paths.push(`${event.path}${holderOf(event)}`);
    },
    take() {
      const most = [...reasons.values()].sort((left, right) => right.count - left.count);
      reasons.clear();
      return most.flatMap(({ text, paths, count }) => [
        `${count} ${text}`,
        ...paths.map((path) => `  ${path}`),
        ...(count > paths.length ? [`  and ${count - paths.length} more`] : []),
      ]);
    },
  };
}

function holderOf(event: Gathered): string {
  if (event.event === 'failed') return '';
  const { document_id, job_id } = event;
  if (document_id !== undefined) return ` (document ${document_id})`;
  return job_id === undefined ? '' : ` (job ${job_id})`;
}
