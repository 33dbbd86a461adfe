import { bytes, duration } from '../parts/format.ts';
import { base } from './base.ts';

/** Max concurrent uploads. */
const uploadsAtOnce = 3;

interface Upload {
  file: File;
  line: HTMLElement;
  state: 'waiting' | 'sending' | 'done' | 'failed' | 'cancelled';
  sentBytes: number;
  request?: XMLHttpRequest;
}

/** Accepts files dropped anywhere on a page that has `data-upload`. */
export function watchUploads(): void {
  const zone = document.querySelector<HTMLElement>('[data-upload]');
  if (zone) watchZone(zone);
}

function watchZone(zone: HTMLElement): void {
  const uploads: Upload[] = [];
  const list = zone.querySelector('.uploads');
  const summary = zone.querySelector<HTMLElement>('.upload-summary');
  const collection = zone.querySelector<HTMLInputElement>('[name=collection]');
  let startedAt = 0;

  const add = (files: Iterable<File>): void => {
    for (const file of files) {
      const line = document.createElement('li');
      list?.append(line);
      const upload: Upload = { file, line, state: 'waiting', sentBytes: 0 };
      uploads.push(upload);
      show(upload);
    }
    startNext();
  };

  const startNext = (): void => {
    if (uploads.every(({ state }) => state !== 'sending')) startedAt = performance.now();
    while (uploads.filter(({ state }) => state === 'sending').length < uploadsAtOnce) {
      const upload = uploads.find(({ state }) => state === 'waiting');
      if (!upload) break;
      upload.state = 'sending';
      show(upload);
      void run(upload);
    }
    summarise();
  };

  const run = async (upload: Upload): Promise<void> => {
    try {
      const message = await send(upload, collection?.value ?? '', () => {
        show(upload);
        summarise();
      });
      upload.state = 'done';
      show(upload, message);
    } catch (error) {
      if (upload.state !== 'cancelled') upload.state = 'failed';
      show(upload, error instanceof Error ? error.message : 'Failed');
    }
    startNext();
  };

  const show = (upload: Upload, message?: string): void => {
    const { file, line, state, sentBytes } = upload;
    const name = Object.assign(document.createElement('span'), { textContent: file.name, title: file.name });
    const action = document.createElement('span');
    if (state === 'waiting' || state === 'sending') {
      action.append(smallButton('Cancel', file.name, () => cancel(upload)));
    }
    if (state === 'failed' || state === 'cancelled') {
      action.append(smallButton('Retry', file.name, () => retry(upload)));
    }
    line.className = state;
    line.replaceChildren(name, renderState(state, { done: sentBytes, total: file.size }, message), action);
  };

  const cancel = (upload: Upload): void => {
    upload.state = 'cancelled';
    upload.request?.abort();
    show(upload);
    startNext();
  };

  const retry = (upload: Upload): void => {
    upload.state = 'waiting';
    upload.sentBytes = 0;
    show(upload);
    startNext();
  };

  /** Shows the overall progress: files sent, speed and time left. */
  const summarise = (): void => {
    if (!summary) return;
    const active = uploads.filter(({ state }) => state !== 'cancelled');
    const isBusy = active.some(({ state }) => state === 'waiting' || state === 'sending');
    summary.hidden = active.length < 2 && !isBusy;
    const done = active.filter(({ state }) => state === 'done').length;
    const total = sum(active.map(({ file }) => file.size));
    const sent = sum(active.map(({ file, state, sentBytes }) => (state === 'done' ? file.size : sentBytes)));
    const seconds = (performance.now() - startedAt) / 1000;
    const perSecond = seconds > 0.5 ? sum(active.map(({ sentBytes }) => sentBytes)) / seconds : 0;
    const pace =
      isBusy && perSecond > 0 ? ` · ${bytes(perSecond)}/s · ${duration((1000 * (total - sent)) / perSecond)} left` : '';
    const text = document.createElement('span');
    text.textContent = `${done} of ${active.length} files sent, ${bytes(sent)} of ${bytes(total)}${pace}`;
    summary.replaceChildren(bar(sent, total), text);
    if (!isBusy) summary.append(smallButton('Clear', 'sent files', clear));
  };

  const clear = (): void => {
    for (const { line } of uploads.splice(0)) line.remove();
    summarise();
    if (summary) summary.hidden = true;
  };

  const chooser = zone.querySelector<HTMLInputElement>('input[type=file]');
  document.addEventListener('click', ({ target }) => {
    if (target instanceof Element && target.closest('[data-choose-files]')) chooser?.click();
  });
  chooser?.addEventListener('change', ({ target }) => {
    if (!(target instanceof HTMLInputElement)) return;
    add(target.files ?? []);
    // Allows choosing the same file again.
    target.value = '';
  });
  watchDrops(zone, add);
}

function watchDrops(zone: HTMLElement, add: (files: Iterable<File>) => void): void {
  const hasFiles = ({ dataTransfer }: DragEvent): boolean => dataTransfer?.types.includes('Files') ?? false;
  document.addEventListener('dragover', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    zone.classList.add('dropping');
  });
  document.addEventListener('dragleave', ({ relatedTarget }) => {
    if (relatedTarget === null) zone.classList.remove('dropping');
  });
  document.addEventListener('drop', async (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    zone.classList.remove('dropping');
    // Entries and files can be read only during the event. A file that is dragged from another page has no entry.
    const items = [...(event.dataTransfer?.items ?? [])];
    const dropped = items.map((item) => [item.webkitGetAsEntry(), item.getAsFile()] as const);
    for (const [entry, file] of dropped) add(entry ? await filesOf(entry) : file ? [file] : []);
  });
}

/** Uploads a file and returns the server's message about it. */
async function send(upload: Upload, collection: string, progress: () => void): Promise<string> {
  const { file } = upload;
  const started = await post('/console/upload-start', { filename: file.name, size: String(file.size), collection });
  if (upload.state === 'cancelled') throw new Error('Cancelled');
  await put(new URL(started['upload_url'] ?? '').pathname, upload, progress);
  const { message } = await post('/console/upload-finish', { upload_id: started['upload_id'] ?? '' });
  return message ?? 'Sent';
}

async function post(path: string, fields: Record<string, string>): Promise<Record<string, string>> {
  const answer = await fetch(`${base}${path}`, { method: 'POST', body: new URLSearchParams(fields) });
  const body = (await answer.json()) as Record<string, string>;
  if (!answer.ok) throw new Error(body['message'] ?? 'Request failed');
  return body;
}

/** Sends the bytes with XMLHttpRequest, because fetch doesn't report the progress of uploads. */
function put(path: string, upload: Upload, progress: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    upload.request = request;
    request.open('PUT', path);
    request.upload.onprogress = ({ loaded }) => {
      upload.sentBytes = loaded;
      progress();
    };
    request.onload = () => (request.status < 300 ? resolve() : reject(new Error('Upload refused')));
    request.onerror = () => reject(new Error('Connection lost'));
    request.onabort = () => reject(new Error('Cancelled'));
    request.send(upload.file);
  });
}

function renderState(
  state: Upload['state'],
  { done, total }: { done: number; total: number },
  message = '',
): HTMLElement {
  const element = document.createElement('span');
  if (state === 'sending') {
    element.append(bar(done, total));
    return element;
  }
  element.className = `badge ${{ waiting: '', done: 'good', failed: 'bad', cancelled: '' }[state]}`;
  element.textContent =
    message || { waiting: 'Waiting', done: 'Sent', failed: 'Failed', cancelled: 'Cancelled' }[state];
  return element;
}

function bar(done: number, total: number): HTMLProgressElement {
  return Object.assign(document.createElement('progress'), { max: Math.max(1, total), value: done });
}

function smallButton(label: string, about: string, onClick: () => void): HTMLButtonElement {
  const button = Object.assign(document.createElement('button'), {
    type: 'button',
    className: 'button quiet small',
    textContent: label,
  });
  button.setAttribute('aria-label', `${label} ${about}`);
  button.addEventListener('click', onClick);
  return button;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Returns the files of a dropped folder and its subfolders. */
async function filesOf(entry: FileSystemEntry): Promise<File[]> {
  if (entry instanceof FileSystemFileEntry)
    return [await new Promise((resolve, reject) => entry.file(resolve, reject))];
  if (!(entry instanceof FileSystemDirectoryEntry)) return [];
  const reader = entry.createReader();
  const files: File[] = [];
  for (;;) {
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (entries.length === 0) return files;
    for (const each of entries) files.push(...(await filesOf(each)));
  }
}
