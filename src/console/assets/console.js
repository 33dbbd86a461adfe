// What pages do beyond links and forms. Without this script everything still works, page by page.

const typingPauseMs = 180;

// Without TLS the pages of a session are below a secret path: who comes to another address is led back there.
const { base } = document.documentElement.dataset;
const [here] = /^\/~[\w-]{22}(?=\/)/.exec(location.pathname) ?? [''];
if (base !== '') localStorage.setItem('base', base);
else if (document.querySelector('form.sign-in')) {
  const kept = localStorage.getItem('base') ?? '';
  const path = location.pathname.slice(here.length);
  if (kept === here) localStorage.removeItem('base');
  else if (kept !== '') location.replace(`${kept}${path === '/sign-in' ? '/' : path}${location.search}`);
}

/** The document at an address, parsed by the browser itself; undefined if a later request overtook it. */
function load(address, running) {
  running.request?.abort();
  const request = new XMLHttpRequest();
  running.request = request;
  return new Promise((resolve) => {
    request.open('GET', address);
    request.responseType = 'document';
    request.onload = () => resolve(request.status < 500 ? request.response : undefined);
    request.onerror = request.onabort = () => resolve(undefined);
    request.send();
  });
}

/** Takes the new content of one element over; what has the focus inside it keeps its place. */
function replace(selector, page) {
  const [now, next] = [document.querySelector(selector), page?.querySelector(selector)];
  // What did not change is left alone: screen readers would read it out again, every few seconds.
  if (!now || !next || now.isEqualNode(next)) return;
  const index = rows().indexOf(document.activeElement);
  for (const { name, value } of next.attributes) now.setAttribute(name, value);
  now.replaceChildren(...next.childNodes);
  if (index >= 0) rows()[index]?.focus();
}

for (const form of document.querySelectorAll('form[data-live]')) {
  const running = {};
  let timer;
  const update = async () => {
    const query = new URLSearchParams(new FormData(form));
    for (const [name, value] of [...query]) if (value === '') query.delete(name);
    const address = `${form.getAttribute('action')}?${query}`;
    history.replaceState(null, '', address);
    replace(form.dataset.live, await load(address, running));
  };
  form.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(update, typingPauseMs);
  });
}

for (const element of document.querySelectorAll('[data-refresh]')) {
  const running = {};
  const refresh = async () => {
    if (document.visibilityState === 'visible') replace(`#${element.id}`, await load(location.href, running));
    setTimeout(refresh, Number(element.dataset.refresh));
  };
  setTimeout(refresh, Number(element.dataset.refresh));
}

for (const button of document.querySelectorAll('[data-copy]')) {
  button.hidden = false;
  button.addEventListener('click', async () => {
    const text = document.querySelector(button.dataset.copy).textContent;
    const copied = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
    button.textContent = copied ? 'Copied' : 'Select and copy it';
  });
}

// Keys: every hit and row can be reached without a mouse.

function rows() {
  return [...document.querySelectorAll('main [tabindex="0"]')];
}

function move(step) {
  const all = rows();
  const next = all[all.indexOf(document.activeElement) + step] ?? (step > 0 ? all[0] : undefined);
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}

const keys = {
  '/': () => (document.querySelector('input[type=search]') ?? document.querySelector('.brand')).focus(),
  j: () => move(1),
  k: () => move(-1),
  Enter: () => document.activeElement.closest('[tabindex="0"]')?.querySelector('a')?.click(),
  e: () => document.activeElement.querySelector('summary')?.click(),
  '?': () => showKeys(),
};

document.addEventListener('keydown', (event) => {
  const { target, key } = event;
  const isTyping = target.matches('input, textarea, select');
  if (isTyping && key === 'Escape') target.blur();
  const isOnControl = target.matches('a, button, summary, input, textarea, select');
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping || (key === 'Enter' && isOnControl)) return;
  if (!keys[key]) return;
  event.preventDefault();
  keys[key]();
});

function showKeys() {
  const dialog = document.createElement('dialog');
  const list = document.createElement('p');
  list.textContent = '/ search · j and k next and previous · Enter open · e why · Esc close · ? this list';
  const close = document.createElement('button');
  close.textContent = 'Close';
  close.addEventListener('click', () => dialog.close());
  dialog.addEventListener('close', () => dialog.remove());
  dialog.append(list, close);
  document.body.append(dialog);
  dialog.showModal();
}

// Files: three at a time, straight to the address that the server gives for each.

const uploadsAtOnce = 3;

for (const zone of document.querySelectorAll('[data-upload]')) {
  const waiting = [];
  let running = 0;
  const list = zone.querySelector('.uploads');
  const add = (files) => {
    for (const file of files) {
      const line = document.createElement('li');
      list.append(line);
      tell(line, file, 'waits');
      waiting.push({ file, line });
    }
    next();
  };
  const next = () => {
    while (running < uploadsAtOnce && waiting.length > 0) {
      const { file, line } = waiting.shift();
      running += 1;
      send(file, line, zone.querySelector('[name=collection]').value)
        .catch((error) => tell(line, file, error.message, 'problem'))
        .finally(() => {
          running -= 1;
          next();
        });
    }
  };
  zone.querySelector('input[type=file]').addEventListener('change', (event) => add(event.target.files));
  zone.addEventListener('dragover', (event) => {
    event.preventDefault();
    zone.classList.add('over');
  });
  zone.addEventListener('dragleave', () => zone.classList.remove('over'));
  zone.addEventListener('drop', async (event) => {
    event.preventDefault();
    zone.classList.remove('over');
    // Both are known during the event only. What comes from another page has no entry, and is a file all the same.
    const dropped = [...event.dataTransfer.items].map((item) => [item.webkitGetAsEntry(), item.getAsFile()]);
    for (const [entry, file] of dropped) add(entry ? await filesOf(entry) : file ? [file] : []);
  });
}

function tell(line, file, state, kind = '') {
  line.textContent = `${file.name}: ${state}`;
  line.className = kind;
}

async function send(file, line, collection) {
  const started = await post('/console/upload-start', { filename: file.name, size: file.size, collection });
  await put(new URL(started.upload_url).pathname, file, (percent) => tell(line, file, `${percent} % sent`));
  const { status, message } = await post('/console/upload-finish', { upload_id: started.upload_id });
  tell(line, file, message ?? (status === 'queued' ? 'taken in' : status), 'state-done');
}

async function post(path, fields) {
  const answer = await fetch(`${base}${path}`, { method: 'POST', body: new URLSearchParams(fields) });
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.message ?? 'The server refused it.');
  return body;
}

/** fetch tells nothing of its progress; this older way does. */
function put(path, file, report) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('PUT', path);
    request.upload.onprogress = ({ loaded, total }) => report(total === 0 ? 100 : Math.floor((loaded / total) * 100));
    request.onload = () => (request.status < 300 ? resolve() : reject(new Error('The server refused it.')));
    request.onerror = () => reject(new Error('The connection broke.'));
    request.send(file);
  });
}

/** The files of a dropped folder, with those of the folders in it. */
async function filesOf(entry) {
  if (entry.isFile) return [await new Promise((resolve, reject) => entry.file(resolve, reject))];
  const reader = entry.createReader();
  const files = [];
  for (;;) {
    const entries = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (entries.length === 0) return files;
    for (const each of entries) files.push(...(await filesOf(each)));
  }
}
