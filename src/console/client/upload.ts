import { base } from './base.ts';

/** Files are sent three at a time, straight to the address that the server gives for each. */
const uploadsAtOnce = 3;

export function watchUploads(): void {
  for (const zone of document.querySelectorAll<HTMLElement>('[data-upload]')) watchZone(zone);
}

function watchZone(zone: HTMLElement): void {
  const waiting: { file: File; line: HTMLElement }[] = [];
  let running = 0;
  const list = zone.querySelector('.uploads');
  const collection = zone.querySelector<HTMLInputElement>('[name=collection]');
  const add = (files: Iterable<File>): void => {
    for (const file of files) {
      const line = document.createElement('li');
      list?.append(line);
      report(line, file, 'Waiting');
      waiting.push({ file, line });
    }
    next();
  };
  const next = (): void => {
    while (running < uploadsAtOnce) {
      const upload = waiting.shift();
      if (!upload) return;
      const { file, line } = upload;
      running += 1;
      send(file, line, collection?.value ?? '')
        .catch((error: unknown) => report(line, file, error instanceof Error ? error.message : 'Failed', 'failed'))
        .finally(() => {
          running -= 1;
          next();
        });
    }
  };
  zone.querySelector('input[type=file]')?.addEventListener('change', ({ target }) => {
    if (target instanceof HTMLInputElement) add(target.files ?? []);
  });
  zone.addEventListener('dragover', (event) => {
    event.preventDefault();
    zone.classList.add('over');
  });
  zone.addEventListener('dragleave', () => zone.classList.remove('over'));
  zone.addEventListener('drop', async (event) => {
    event.preventDefault();
    zone.classList.remove('over');
    // Both can be read during the event only. A file from another page has no entry.
    const items = [...(event.dataTransfer?.items ?? [])];
    const dropped = items.map((item) => [item.webkitGetAsEntry(), item.getAsFile()] as const);
    for (const [entry, file] of dropped) add(entry ? await filesOf(entry) : file ? [file] : []);
  });
}

function report(line: HTMLElement, file: File, state: string, kind = ''): void {
  line.textContent = `${file.name}: ${state}`;
  line.className = kind;
}

async function send(file: File, line: HTMLElement, collection: string): Promise<void> {
  const started = await post('/console/upload-start', { filename: file.name, size: String(file.size), collection });
  await put(new URL(started['upload_url'] ?? '').pathname, file, (percent) => report(line, file, `${percent} %`));
  const { status, message } = await post('/console/upload-finish', { upload_id: started['upload_id'] ?? '' });
  report(line, file, message ?? (status === 'queued' ? 'Added' : (status ?? 'Added')), 'done');
}

async function post(path: string, fields: Record<string, string>): Promise<Record<string, string>> {
  const answer = await fetch(`${base}${path}`, { method: 'POST', body: new URLSearchParams(fields) });
  const body = (await answer.json()) as Record<string, string>;
  if (!answer.ok) throw new Error(body['message'] ?? 'Request failed');
  return body;
}

/** fetch reports no progress of uploads; XMLHttpRequest does. */
function put(path: string, file: File, progress: (percent: number) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('PUT', path);
    request.upload.onprogress = ({ loaded, total }) => progress(total === 0 ? 100 : Math.floor((loaded / total) * 100));
    request.onload = () => (request.status < 300 ? resolve() : reject(new Error('Upload refused')));
    request.onerror = () => reject(new Error('Connection lost'));
    request.send(file);
  });
}

/** The files of a dropped folder, with those of the folders in it. */
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
