import type { JobId } from '../../engine/engine.ts';
import { createProgressLine, renderBar, type Terminal } from '../progress-line.ts';
import { printableText } from '../terminal/printable.ts';
import type { AddEvent, Stored } from './add-event.ts';
import { createReasons } from './failure-reasons.ts';
import type { SkipCounts } from './find-files.ts';

export interface Reporter {
  report(event: AddEvent): void;
  /** Shows how many files and bytes were processed, including failed ones. */
  progress(done: Amount, total: Amount): void;
  /** Shows the progress of embedding, which follows when all files are stored. */
  embedding(done: number, total: number): void;
  end(): void;
}

export interface Amount {
  files: number;
  bytes: number;
}

export interface Outputs {
  stdout: { write(text: string): unknown };
  stderr: Terminal;
}

export function createReporter(json: boolean, { stdout, stderr }: Outputs): Reporter {
  if (json) {
    return { report: (event) => stdout.write(`${JSON.stringify(event)}\n`), progress() {}, embedding() {}, end() {} };
  }
  const line = createProgressLine(stderr);
  const startedAt = performance.now();
  const reasons = createReasons();
  const write = (text: string): void => {
    line.clear();
    // File names are untrusted text.
    stdout.write(`${printableText(text).replaceAll('\n', ' ')}\n`);
  };
  let groupsFailures = false;
  let embeddingAt: number | undefined;
  return {
    report(event) {
      // A run that starts with `found` ends with failures grouped by reason. Otherwise each failure is printed immediately.
      if (event.event === 'found') groupsFailures = true;
      if (groupsFailures && (event.event === 'failed' || event.event === 'duplicate')) return reasons.add(event);
      // On a terminal the progress bar already shows successes.
      const text = stderr.isTTY === true && isQuiet(event) ? undefined : describe(event);
      if (text !== undefined) write(text);
    },
    progress: (done, total) => line.show(progressBar(done, total, (performance.now() - startedAt) / 1000)),
    embedding(done, total) {
      embeddingAt ??= performance.now();
      line.show(embeddingBar(done, total, (performance.now() - embeddingAt) / 1000));
    },
    end() {
      line.clear();
      for (const text of reasons.take()) write(text);
    },
  };
}

function isQuiet(event: AddEvent): boolean {
  return event.event === 'added' && event.truncated === undefined;
}

/** Formats the progress. The remaining time is estimated by bytes and excludes embedding, which comes later. */
export function progressBar(done: Amount, total: Amount, seconds: number): string {
  const fraction = total.bytes === 0 ? 1 : Math.min(1, done.bytes / total.bytes);
  const parts = [`${renderBar(fraction)} ${done.files}/${pluralize(total.files, 'file')}`];
  if (done.files > 0 && seconds > 0) {
    parts.push(`${(done.files / seconds).toFixed(1)} files/s`, `${(done.bytes / seconds / 1e6).toFixed(1)} MB/s`);
    parts.push(...remaining(fraction, seconds).map((time) => `searchable in ${time}`));
  }
  return parts.join('  ');
}

export function embeddingBar(done: number, total: number, seconds: number): string {
  const fraction = done / Math.max(1, total);
  const bar = `${renderBar(fraction)} keyword search is ready; embedding ${done}/${pluralize(total, 'chunk')}`;
  return [bar, ...remaining(fraction, seconds).map((time) => `${time} left`)].join('  ');
}

/** Min progress, from 0 to 1, before an estimate is shown. */
const fractionMin = 0.05;
const secondsMin = 3;

/** Estimates the remaining time, rounded. Empty until enough is done. */
function remaining(fraction: number, seconds: number): string[] {
  if (fraction < fractionMin || fraction >= 1 || seconds < secondsMin) return [];
  const secondsLeft = (seconds * (1 - fraction)) / fraction;
  if (secondsLeft < 60) return ['less than a minute'];
  const minutes = Math.round(secondsLeft / 60);
  return [
    minutes < 90 ? `about ${pluralize(minutes, 'minute')}` : `about ${pluralize(Math.round(minutes / 60), 'hour')}`,
  ];
}

function describe(event: AddEvent): string | undefined {
  switch (event.event) {
    case 'found':
      return `${pluralize(event.files, 'file')}, ${(event.bytes / 1e6).toFixed(1)} MB${describeSkipped(event.passed_over)}`;
    case 'accepted':
      return undefined;
    case 'added':
      return `added ${event.path}${describeDocument(event)}${describeTruncation(event)}`;
    case 'replaced':
      return `replaced ${event.path}${describeDocument(event)}${describeTruncation(event)}`;
    case 'moved':
      return `moved ${event.from} to ${event.path} (document ${event.document_id})`;
    case 'removed':
      return `removed ${event.path} (document ${event.document_id})`;
    case 'duplicate':
      return `duplicate ${event.path}: ${describeOwner(event)} has the same bytes`;
    case 'failed':
      return `failed ${event.path}: ${event.error}`;
    case 'waiting':
      return `waiting: ${event.reason}`;
    case 'watching':
      return `watching ${event.folders.join(', ')}`;
    case 'in_step':
      return `in sync: ${pluralize(event.files, 'file')}`;
    case 'embedding':
      return undefined;
    case 'summary':
      return `${event.added} added, ${event.duplicates} already there, ${event.failed} failed, ${event.seconds.toFixed(1)} s${describePending(event.pending)}`;
  }
}

function describePending(pending: number): string {
  return pending === 0
    ? ''
    : `; ${pluralize(pending, 'chunk')} will be searchable by meaning once a running engine has embedded them`;
}

function pluralize(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function describeOwner({ document_id, job_id }: { document_id?: number; job_id?: JobId }): string {
  if (document_id !== undefined) return `document ${document_id}`;
  return job_id === undefined ? 'another file' : `job ${job_id}`;
}

function describeDocument({ document_id, chunks }: { document_id: number | null; chunks: number | null }): string {
  return document_id === null
    ? ''
    : ` (document ${document_id}${chunks === null ? '' : `, ${pluralize(chunks, 'chunk')}`})`;
}

function describeTruncation({ truncated }: Stored): string {
  if (truncated === undefined) return '';
  const { read, of, unit = 'characters', reason } = truncated;
  const bound = reason === 'cpu_time' ? 'KB_EXTRACT_CPU_MS' : 'KB_TEXT_CHARS_MAX';
  return `: only ${of === null ? `${read}` : `${read} of ${of}`} ${unit} were read; raise ${bound} and add it again`;
}

const skipReasons: Record<keyof SkipCounts, string> = {
  hidden: 'hidden',
  packages: 'installed packages',
  links: 'links',
  empty: 'empty',
  special: 'not regular files',
  excluded: 'excluded',
  ignored: 'ignored by .gitignore',
};

function describeSkipped(skipped: SkipCounts): string {
  const named = Object.entries(skipReasons).flatMap(([reason, text]) => {
    const count = skipped[reason as keyof SkipCounts];
    return count > 0 ? [`${count} ${text}`] : [];
  });
  return named.length > 0 ? `; skipped: ${named.join(', ')}` : '';
}
