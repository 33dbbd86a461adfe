import { read, type Visit } from '../console-tools.ts';
import { type Html, html } from '../html.ts';
import type { Pace } from '../pace.ts';
import type { Page } from '../page.ts';
import { leftOut } from './documents.ts';
import { duration, offsetOf, pager, time } from './parts.ts';

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
    body: html`<h1>Files</h1>
${
  tools.has('kb_upload_start') &&
  html`<section class="drop" data-upload aria-label="Add files">
<p><label>Drop files here, or choose them: <input type="file" multiple></label> <label>Collection <input name="collection" placeholder="documents"></label></p>
<ul class="uploads" aria-live="polite"></ul></section>`
}
<div id="jobs" aria-live="polite" data-refresh="${waiting > 0 || unembedded > 0 ? '1000' : '5000'}">
<p class="summary">${waiting === 0 ? 'Nothing waits' : `${waiting} wait or are being read`}${left(speed.filesPerMinute, speed.filesLeftMs)}${unembedded > 0 && `; ${unembedded} passages are not embedded yet and are found by their words only`}${left(speed.passagesPerMinute, speed.passagesLeftMs)}.</p>
<table><caption class="visually-hidden">Jobs</caption><thead><tr><th scope="col">File</th><th scope="col">State</th><th scope="col">Chunks</th><th scope="col">Changed</th></tr></thead>
<tbody>${jobs.map(row)}</tbody></table>
${pager('/jobs', query, { offset, limit, total: read.number(answer, 'total') ?? jobs.length })}</div>`,
  };
}

/** The pace and what is left at that pace, as far as they are known. */
function left(perMinute: number | undefined, leftMs: number | undefined): string {
  if (perMinute === undefined || leftMs === undefined) return '';
  const rate = perMinute < 10 ? perMinute.toFixed(1) : String(Math.round(perMinute));
  return `, ${rate} a minute, about ${duration(leftMs)} left`;
}

function row(job: Record<string, unknown>): Html {
  const document = read.number(job, 'document_id');
  const name = read.text(job, 'filename') || `${read.text(job, 'kind')} ${read.text(job, 'job_id')}`;
  const { phase, done, total } = read.object(job, 'progress');
  const status = read.text(job, 'status');
  const isRunning = status === 'processing';
  return html`<tr tabindex="0"><td>${document === undefined ? name : html`<a href="/documents/${document}">${name}</a>`}${leftOut(job)}</td>
<td class="state-${status}">${status}${isRunning && typeof phase === 'string' && html`, ${phase} ${typeof total === 'number' && total > 0 && html`<progress max="${total}" value="${Number(done ?? 0)}"></progress>`}`}
${read.text(job, 'error') !== '' && html`<p class="problem">${read.text(job, 'error')}</p>`}</td>
<td>${read.text(job, 'chunk_count')}</td><td>${time(read.text(job, 'updated_at'))}</td></tr>`;
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
