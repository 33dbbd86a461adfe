import { read, type Visit } from '../console-tools.ts';
import { html, type Part } from '../html.ts';
import type { Pace } from '../pace.ts';
import type { Page } from '../page.ts';
import {
  badge,
  duration,
  field,
  notice,
  number,
  offsetOf,
  pageHeader,
  pager,
  plural,
  progress,
  type Tone,
  table,
  time,
} from '../parts/parts.ts';
import { leftOut } from './documents.ts';

const limit = 50;

/** Files on their way in: a place to drop more, and what became of those that were. */
export async function jobsPage({ tools, query }: Visit, pace: Pace, now: number): Promise<Page> {
  const offset = offsetOf(query);
  const [answer, status] = await Promise.all([tools.call('kb_jobs', { limit, offset }), tools.call('kb_status', {})]);
  const jobs = read.list(answer, 'jobs');
  const queue = read.object(status, 'queue');
  const waiting = (read.number(queue, 'queued') ?? 0) + (read.number(queue, 'processing') ?? 0);
  const unembedded = read.number(status, 'unembedded') ?? 0;
  const finished = (read.number(queue, 'done') ?? 0) + (read.number(queue, 'failed') ?? 0);
  const speed = pace.of({ at: now, waiting, finished, unembedded });
  return {
    title: 'Files',
    body: html`${pageHeader({ title: 'Files' })}
${
  tools.has('kb_upload_start') &&
  html`<section class="card drop" data-upload aria-label="Add files">
<label class="field"><span class="label">Drop files here, or choose them</span><input type="file" multiple></label>
${field({ label: 'Collection', name: 'collection', placeholder: 'documents' })}
<ul class="uploads" aria-live="polite"></ul></section>`
}
<div id="jobs" aria-live="polite" data-refresh="${waiting > 0 || unembedded > 0 ? '1000' : '5000'}">
<p class="meta">${waiting === 0 ? 'Nothing queued' : `${number(waiting)} queued or processing`}${left(speed.filesPerMinute, speed.filesLeftMs)}${unembedded > 0 && ` · Indexing: ${plural(unembedded, 'passage')} left. Keyword search already works`}${left(speed.passagesPerMinute, speed.passagesLeftMs)}</p>
${table({
  caption: 'Jobs',
  columns: [
    { label: 'File' },
    { label: 'State' },
    { label: 'Passages', isNumber: true },
    { label: 'Changed', isWhole: true },
  ],
  rows: jobs.map(row),
})}
${pager('/jobs', query, { offset, limit, total: read.number(answer, 'total') ?? jobs.length })}</div>`,
  };
}

/** The pace and what is left at that pace, as far as they are known. */
function left(perMinute: number | undefined, leftMs: number | undefined): string {
  if (perMinute === undefined || leftMs === undefined) return '';
  const rate = perMinute < 10 ? perMinute.toFixed(1) : String(Math.round(perMinute));
  return `, ${rate} a minute, about ${duration(leftMs)} left`;
}

const tones: Record<string, Tone> = { done: 'good', failed: 'bad', processing: 'info' };

function row(job: Record<string, unknown>): Part[] {
  const document = read.number(job, 'document_id');
  const name = read.text(job, 'filename') || `${read.text(job, 'kind')} ${read.text(job, 'job_id')}`;
  const { phase, done, total } = read.object(job, 'progress');
  const status = read.text(job, 'status');
  const isRunning = status === 'processing';
  const error = read.text(job, 'error');
  return [
    html`${document === undefined ? name : html`<a href="/documents/${document}">${name}</a>`}${leftOut(job)}`,
    html`${badge(isRunning && typeof phase === 'string' ? phase : status, tones[status])}${isRunning && typeof total === 'number' && total > 0 && progress(Number(done ?? 0), total, name)}${error !== '' && notice(error, 'bad')}`,
    read.text(job, 'chunk_count'),
    time(read.text(job, 'updated_at')),
  ];
}

/** Opens an upload for the script, which then sends the bytes to the address it is given. */
export async function startUpload({ tools, form }: Visit): Promise<Record<string, unknown>> {
  const collection = (form.get('collection') ?? '').trim();
  const { upload_id, upload_url } = await tools.call('kb_upload_start', {
    filename: form.get('filename') ?? '',
    total_size: Number(form.get('size')),
    ...(collection === '' ? {} : { collection }),
  });
  return { upload_id, upload_url };
}

export async function finishUpload({ tools, form }: Visit): Promise<Record<string, unknown>> {
  const { status, message, job_id } = await tools.call('kb_upload_finish', { upload_id: form.get('upload_id') ?? '' });
  return { status, message, job_id };
}
