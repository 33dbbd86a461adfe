import { read, type Visit } from '../console-tools.ts';
import { type Html, html, type Part } from '../html.ts';
import type { Pace } from '../pace.ts';
import type { Page } from '../page.ts';
import {
  actionsLabel,
  badge,
  button,
  changeForm,
  duration,
  emptyState,
  field,
  icon,
  iconButton,
  linkButton,
  number,
  offsetOf,
  pageHeader,
  pageNotFound,
  pager,
  plural,
  popupButton,
  progress,
  table,
  textArea,
  time,
  toast,
  typeIcon,
} from '../parts/parts.ts';
import { outcomeOf, redirectTo } from './done.ts';
import { indexing, partlyRead } from './reading-state.ts';

const limit = 50;
const path = '/jobs';

/** Shows ingestion: a drop zone, progress, and the outcome of each file. */
export async function jobsPage({ tools, query }: Visit, pace: Pace, now: number): Promise<Page> {
  const offset = offsetOf(query);
  const [answer, status] = await Promise.all([tools.call('kb_jobs', { limit, offset }), tools.call('kb_status', {})]);
  const jobs = read.list(answer, 'jobs');
  const queue = read.object(status, 'queue');
  const waiting = (read.number(queue, 'queued') ?? 0) + (read.number(queue, 'processing') ?? 0);
  const unembedded = read.number(status, 'unembedded') ?? 0;
  const finished = (read.number(queue, 'done') ?? 0) + (read.number(queue, 'failed') ?? 0);
  const speed = pace.update({ at: now, waiting, finished, unembedded });
  const passages = read.number(status, 'chunks') ?? 0;
  const isStopped = read.text(status, 'degraded') !== '';
  const isBusy = waiting > 0 || unembedded > 0;
  const canCancel = tools.has('kb_cancel_job');
  return {
    title: 'Files',
    layout: 'wide',
    toast: toastOf(query),
    body: html`${pageHeader({ title: 'Files', meta: 'Add files to the knowledge base and follow their progress.', actions: addActions(tools) })}
${tools.has('kb_upload_start') && dropZone()}
<div id="jobs" class="stack" aria-live="polite" data-refresh="${isBusy ? '1000' : '5000'}">
${
  isBusy &&
  html`<div class="card work">${waiting > 0 && workLine('Reading files', plural(waiting, 'file'), describePace(speed.filesPerMinute, speed.filesLeftMs))}
${unembedded > 0 && workLine('Indexing passages', progress(passages - unembedded, passages, 'Indexed passages'), isStopped ? 'The embedding model does not answer. Keyword search works.' : describePace(speed.passagesPerMinute, speed.passagesLeftMs) || 'Keyword search already works')}</div>`
}
${
  jobs.length === 0
    ? emptyState({ icon: 'upload', title: 'No files yet', text: 'Files that you add appear here.' })
    : table({
        caption: 'Files',
        columns: [
          { label: 'File' },
          { label: 'State' },
          { label: 'Passages', isNumber: true },
          { label: 'Changed', noWrap: true },
          ...(canCancel ? [{ label: actionsLabel }] : []),
        ],
        rows: jobs.map((job) => row(job, { canCancel, canUpload: tools.has('kb_upload_start') })),
      })
}
<div class="row end">${jobs.length > 0 && tools.has('kb_clear_jobs') && html`<form method="post" action="${path}/clear">${button('Clear finished', { kind: 'quiet', isSmall: true, icon: 'check' })}</form>`}</div>
${pager(path, query, { offset, limit, total: read.number(answer, 'total') ?? jobs.length })}</div>`,
  };
}

function toastOf(query: URLSearchParams): Html | undefined {
  const outcome = outcomeOf(query);
  const messages: Record<string, string> = {
    cleared: 'Finished files cleared from the list',
    cancelled: 'Cancelled',
    restored: 'Restoring',
    added: 'Added to the queue',
  };
  const message = outcome && messages[outcome.change];
  return message === undefined ? undefined : toast(message);
}

function addActions(tools: Visit['tools']): Html {
  if (!tools.has('kb_add')) return html``;
  const collection = field({ label: 'Collection', name: 'collection', placeholder: 'documents' });
  return html`${popupButton({
    id: 'add-page',
    label: 'Add a web page',
    title: 'Add a web page',
    style: { icon: 'globe' },
    body: changeForm(
      `${path}/page`,
      'Add',
      html`${field({ label: 'Address', name: 'url', type: 'url', isRequired: true, placeholder: 'https://' })}${collection}`,
    ),
  })}
${popupButton({
  id: 'add-note',
  label: 'Write a note',
  title: 'Write a note',
  isLarge: true,
  style: { icon: 'notebook-pen' },
  body: changeForm(
    `${path}/note`,
    'Add',
    html`${field({ label: 'Title', name: 'title' })}${textArea({ label: 'Text', name: 'text', rows: 10 })}${collection}`,
  ),
})}`;
}

/** Renders the area to drop or choose files. The script accepts files anywhere on the page and fills in the list. */
function dropZone(): Html {
  return html`<section class="card drop" data-upload aria-label="Add files">
<label class="drop-target">${icon('upload')}<span><b>Drop files anywhere on this page</b>, or <u>choose them</u></span><input class="visually-hidden" type="file" multiple></label>
${field({ label: 'Collection', name: 'collection', placeholder: 'documents', hint: 'New files are added to this collection.' })}
<noscript><p class="meta">Adding files here needs JavaScript. In a terminal, <code>carrel add</code> does the same.</p></noscript>
<div class="upload-summary" hidden></div><ul class="uploads" aria-live="polite"></ul></section>`;
}

function workLine(name: string, amount: Part, pace: string): Html {
  return html`<p class="row"><b>${name}</b> <span>${amount}</span> <span class="meta">${pace}</span></p>`;
}

/** Formats speed and remaining time; empty if they are unknown. */
function describePace(perMinute: number | undefined, leftMs: number | undefined): string {
  if (perMinute === undefined || leftMs === undefined) return '';
  return `${number(perMinute < 10 ? perMinute : Math.round(perMinute))} a minute · about ${duration(leftMs)} left`;
}

/** Labels for jobs that record a change of documents. */
const changes: Record<string, string> = {
  delete: 'Deleted',
  tags: 'Tags changed',
  note: 'Edited',
  move: 'Moved',
  bulk_delete: 'Documents deleted',
  bulk_tags: 'Tags of documents changed',
  bulk_set_tags: 'Tags of documents replaced',
};

const phases: Record<string, string> = {
  received: 'Starting',
  extracting: 'Reading',
  chunking: 'Splitting',
  indexing: 'Storing',
};

interface RowOptions {
  canCancel: boolean;
  canUpload: boolean;
}

function row(job: Record<string, unknown>, { canCancel, canUpload }: RowOptions): Part[] {
  const id = read.text(job, 'job_id');
  const document = read.number(job, 'document_id');
  const kind = read.text(job, 'kind');
  const status = read.text(job, 'status');
  const name = read.text(job, 'filename') || changes[kind] || `Job ${id}`;
  const hasPage = document !== undefined && status === 'done' && kind !== 'delete';
  const sign = icon(typeIcon(name.split('.').at(-1) ?? ''));
  const error = read.text(job, 'error');
  const isOpen = status === 'queued' || status === 'processing';
  return [
    html`${
      hasPage
        ? html`<a class="title" href="/documents/${document}">${sign}<span>${name}</span></a>`
        : html`<span class="title">${sign}<span>${name}</span></span>`
    }${error !== '' && html`<p class="reason" title="${error}">${error}</p>`}`,
    state(job, kind, status),
    read.number(job, 'chunk_count') === undefined ? '' : number(read.number(job, 'chunk_count') ?? 0),
    time(read.text(job, 'updated_at')),
    ...(canCancel
      ? [
          (isOpen &&
            html`<form method="post" action="${path}/${id}/cancel">${iconButton('x', `Cancel ${name}`, { isSmall: true })}</form>`) ||
            (status === 'failed' && retryAction(kind, canUpload)),
        ]
      : []),
  ];
}

/** Renders how to retry a failed job. Failed files are not stored, so the user must choose the file again. */
function retryAction(kind: string, canUpload: boolean): Part {
  if (kind === 'crawl') return linkButton('/web', 'Refresh', { kind: 'quiet', isSmall: true });
  // Other engines may not name the kind.
  if (!canUpload || !['ingest', ''].includes(kind)) return '';
  const attributes = { type: 'button', 'data-choose-files': true, title: 'Failed files are not stored' };
  return button('Choose the file again', { kind: 'quiet', isSmall: true, attributes });
}

function state(job: Record<string, unknown>, kind: string, status: string): Html {
  switch (status) {
    case 'queued':
      return badge('Queued', 'neutral', 'clock');
    case 'processing': {
      const { phase, done, total } = read.object(job, 'progress');
      const label = (typeof phase === 'string' && phases[phase]) || 'Reading';
      return html`<span class="row">${badge(label, 'info', 'loader-circle')}${typeof total === 'number' && total > 0 && progress(Number(done ?? 0), total, label)}</span>`;
    }
    case 'failed':
      return badge('Failed', 'bad', 'circle-x');
    case 'cancelled':
      return badge('Cancelled');
    default: {
      const indexingBadge = indexing(job);
      const label = changes[kind] ?? (kind === 'crawl' ? 'Fetched' : 'Added');
      return html`<span class="row">${indexingBadge.markup === '' ? badge(label, changes[kind] ? 'neutral' : 'good', changes[kind] ? 'history' : 'check') : indexingBadge}${partlyRead(job)}</span>`;
    }
  }
}

export async function changeJobs({ tools, subpath, form }: Visit): Promise<string> {
  const [name = '', change] = subpath.split('/');
  const collection = (form.get('collection') ?? '').trim();
  const target = collection === '' ? {} : { collection };
  if (subpath === 'clear') {
    await tools.call('kb_clear_jobs', {});
    return redirectTo(path, 'cleared');
  }
  if (subpath === 'page') {
    await tools.call('kb_add', { url: form.get('url') ?? '', ...target });
    return redirectTo(path, 'added');
  }
  if (subpath === 'note') {
    const title = (form.get('title') ?? '').trim();
    await tools.call('kb_add', { text: form.get('text') ?? '', ...(title === '' ? {} : { title }), ...target });
    return redirectTo(path, 'added');
  }
  if (change !== 'cancel') throw pageNotFound();
  await tools.call('kb_cancel_job', { job_id: name });
  return redirectTo(path, 'cancelled');
}

/** Starts an upload; the script then sends the bytes to the returned URL. */
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
