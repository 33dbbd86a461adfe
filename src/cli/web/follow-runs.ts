import { CarrelError } from '../../base/errors.ts';
import { exitCodes } from '../../base/exit-codes.ts';
import { isObject } from '../../base/json.ts';
import type { LocalEngine } from '../../engine/local/submit.ts';
import { waitForJob } from '../../engine/wait-for-job.ts';
import { waitForVectors } from '../add/add-all.ts';
import { createReporter } from '../add/report.ts';
import type { CommandLine } from '../command-line.ts';
import { createProgressLine, renderBar } from '../progress-line.ts';
import { stopOnSignal } from '../stop-on-signal.ts';
import { printableLine } from '../terminal/printable.ts';
import { printJson } from '../tool-commands/show.ts';

export interface StartedRun {
  readonly url: string;
  readonly job: number;
}

/** Shows the progress of runs until all have ended, and prints each outcome. */
export async function followRuns(line: CommandLine, engine: LocalEngine, runs: readonly StartedRun[]): Promise<void> {
  const { signal, release } = stopOnSignal();
  const isJson = line.flags['json'] === true;
  const bar = createProgressLine(process.stderr);
  const outcomes: object[] = [];
  try {
    for (const { url, job: id } of runs) {
      const job = await waitForJob(engine, id, signal, ({ progress }) => {
        const { done = 0, total = 0 } = progress ?? {};
        bar.show(`${renderBar(total === 0 ? 0 : done / total)} ${done}/${total} pages  ${printableLine(url)}`);
      });
      bar.clear();
      const summary = isObject(job.details?.['summary']) ? job.details['summary'] : {};
      outcomes.push({
        url,
        job_id: id,
        status: job.status,
        ...(job.error === null ? {} : { error: job.error }),
        ...summary,
      });
      if (!isJson) process.stdout.write(`${printableLine(describe(url, job.status, job.error, summary))}\n`);
      if (job.status !== 'done' || allPagesFailed(summary)) process.exitCode = exitCodes.unexpected;
    }
    const reporter = createReporter(true, { stdout: { write() {} }, stderr: process.stderr });
    await waitForVectors({ engine, reporter, tags: [], signal, waitsForVectors: true });
    if (isJson) printJson({ runs: outcomes });
  } catch (error) {
    bar.clear();
    if (!signal.aborted) throw error;
    throw new CarrelError(
      'cancelled',
      'Stopped. A running server continues the work; to continue here, run carrel sources refresh --wait.',
    );
  } finally {
    release();
  }
}

/** True if every page that was found failed or was skipped. */
function allPagesFailed(summary: Readonly<Record<string, unknown>>): boolean {
  const count = (name: string): number => Number(summary[name] ?? 0);
  return (
    count('failed') + count('skipped') > 0 &&
    count('new') + count('changed') + count('unchanged') + count('duplicates') === 0
  );
}

function describe(
  url: string,
  status: string,
  error: string | null,
  summary: Readonly<Record<string, unknown>>,
): string {
  const counts = ['new', 'changed', 'unchanged', 'gone', 'duplicates', 'skipped', 'failed']
    .map((name): [string, number] => [name, Number(summary[name] ?? 0)])
    .filter(([name, count]) => count > 0 || name === 'new')
    .map(([name, count]) => `${count} ${name}`);
  const parts = [`${url}: ${status === 'done' ? counts.join(', ') : `${status}. ${error ?? ''}`}`];
  const { reasons, limits } = summary;
  for (const each of Array.isArray(reasons) ? reasons : [])
    parts.push(`${each.pages} × ${each.reason}, such as ${each.example}`);
  if (Array.isArray(limits) && limits.length > 0) parts.push(`limits reached: ${limits.join(', ')}`);
  return parts.join('; ');
}
