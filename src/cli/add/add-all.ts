import { setTimeout as delay } from 'node:timers/promises';
import type { Engine } from '../../engine/engine.ts';
import type { Summary } from './add-event.ts';
import { addFile, type FileOutcome } from './add-files.ts';
import type { FoundFile, FoundFiles } from './find-files.ts';
import type { Amount, Reporter } from './report.ts';

export interface AddRun {
  readonly engine: Engine;
  readonly reporter: Reporter;
  readonly tags: readonly string[];
  readonly signal: AbortSignal;
  /** True if the engine runs in this process, so that the command must wait for the embeddings. */
  readonly waitsForVectors: boolean;
}

/** Files submitted to the engine at the same time. */
const concurrency = 8;

/** Adds every file, reports each, and continues when one fails. */
export async function addAll(found: FoundFiles, run: AddRun): Promise<Summary> {
  const { reporter } = run;
  const startedAt = performance.now();
  const summary: Summary = { added: 0, duplicates: 0, failed: 0, seconds: 0, pending: 0 };
  reporter.report({ event: 'found', ...amountOf(found.files), passed_over: found.skipped });
  for (const path of found.unreadable) {
    summary.failed += 1;
    const advice = path.includes('\ufffd') ? 'Its name may not be valid UTF-8: rename it.' : 'Check its permissions.';
    reporter.report({ event: 'failed', path, error: `It cannot be read. ${advice}` });
  }
  await forEachFile(found.files, reporter, async (file) => {
    const outcome = await addFile(run.engine, file, {
      ...run,
      onAccepted: (job) => reporter.report({ event: 'accepted', path: file.path, job_id: job }),
    });
    reportOutcome(reporter, file, outcome);
    summary[counters[outcome.outcome]] += 1;
  });
  summary.pending = await waitForVectors(run);
  summary.seconds = (performance.now() - startedAt) / 1000;
  reporter.end();
  reporter.report({ event: 'summary', ...summary });
  return summary;
}

/** Interval between polls of the engine's status. */
const pollMs = 300;

/** Max polls without progress, which is two minutes. */
const idlePollsMax = 400;

/** Waits for the embeddings if `waitsForVectors` is set. Returns the number of chunks that still have none. */
export async function waitForVectors({ engine, reporter, waitsForVectors, signal }: AddRun): Promise<number> {
  let total = 0;
  let fewest = Number.POSITIVE_INFINITY;
  let idlePolls = 0;
  for (;;) {
    const { unembedded = 0, degraded } = await engine.status({ signal });
    if (unembedded === 0 || !waitsForVectors || degraded !== undefined) return unembedded;
    // Without progress, another process may be embedding the chunks with a newer model.
    idlePolls = unembedded < fewest ? 0 : idlePolls + 1;
    if (idlePolls > idlePollsMax) return unembedded;
    fewest = Math.min(fewest, unembedded);
    if (total === 0) reporter.report({ event: 'embedding', pending: unembedded });
    total = Math.max(total, unembedded);
    reporter.embedding(total - unembedded, total);
    await delay(pollMs, undefined, { signal });
  }
}

const counters = { added: 'added', duplicate: 'duplicates', failed: 'failed' } as const;

export function reportOutcome(reporter: Reporter, { path }: FoundFile, outcome: FileOutcome): void {
  if (outcome.outcome === 'added') {
    const { documentId: document_id, chunks, truncated } = outcome;
    reporter.report({ event: 'added', path, document_id, chunks, ...(truncated === undefined ? {} : { truncated }) });
  } else if (outcome.outcome === 'duplicate') {
    const { document_id, job_id, title } = outcome.answer;
    reporter.report({
      event: 'duplicate',
      path,
      ...(document_id === undefined ? {} : { document_id }),
      ...(job_id === undefined ? {} : { job_id }),
      title,
    });
  } else {
    reporter.report({ event: 'failed', path, error: outcome.error });
  }
}

function amountOf(files: readonly { size: number }[]): Amount {
  return { files: files.length, bytes: files.reduce((sum, { size }) => sum + size, 0) };
}

/** Processes a few files at a time. After an error, finishes the running files, then throws the error. */
export async function forEachFile<File extends { size: number }>(
  files: readonly File[],
  reporter: Reporter,
  work: (file: File) => Promise<void>,
): Promise<void> {
  const total = amountOf(files);
  const done = { files: 0, bytes: 0 };
  const queue = files.values();
  let failure: { error: unknown } | undefined;
  const worker = async (): Promise<void> => {
    for (const file of queue) {
      if (failure !== undefined) return;
      try {
        await work(file);
        done.files += 1;
        done.bytes += file.size;
        reporter.progress(done, total);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  if (failure !== undefined) throw failure.error;
}
