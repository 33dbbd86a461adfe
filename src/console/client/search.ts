import { base } from './base.ts';
import { type Loader, load, replace } from './live.ts';
import { showPdfPage } from './pdf-figures.ts';
import { showTimes } from './times.ts';

const typingPauseMs = 150;
const previewPauseMs = 120;

/** Shows results as the user types: keyword matches first, then the ranked list. Previews open next to the list. */
export function watchSearch(): void {
  const form = document.querySelector<HTMLFormElement>('form[data-search]');
  if (!form) return;
  watchQuery(form);
  watchPreviews();
}

function watchQuery(form: HTMLFormElement): void {
  const loader: Loader = {};
  let timer: ReturnType<typeof setTimeout> | undefined;
  const search = async (): Promise<void> => {
    const query = new URLSearchParams();
    for (const [name, value] of new FormData(form)) {
      if (typeof value === 'string' && value.trim() !== '') query.append(name, value);
    }
    const address = `${base}/?${query}`;
    history.replaceState(null, '', address);
    const page = await load(address, loader);
    if (page === undefined) return;
    document.title = page.title;
    form.parentElement?.classList.toggle('is-empty', !query.has('q'));
    show(page);
    await showRanked(loader);
  };
  const showSkeleton = (): void => {
    const results = document.querySelector('#results');
    const skeleton = document.querySelector<HTMLTemplateElement>('#waiting');
    results?.setAttribute('aria-busy', 'true');
    if (!results?.querySelector('.result') && skeleton) results?.replaceChildren(skeleton.content.cloneNode(true));
  };
  form.addEventListener('input', ({ target }) => {
    showSkeleton();
    clearTimeout(timer);
    timer = setTimeout(search, target instanceof HTMLSelectElement ? 0 : typingPauseMs);
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    showSkeleton();
    clearTimeout(timer);
    void search();
  });
  void showRanked(loader);
}

/** Replaces keyword results with the ranked ones, unless they are shown already. */
async function showRanked(loader: Loader): Promise<void> {
  const full = document.querySelector<HTMLElement>('#results')?.dataset['full'];
  if (full === undefined) return;
  show(await load(`${base}${full}`, loader));
}

function show(page: Document | undefined): void {
  if (page === undefined) return;
  const focused = document.activeElement instanceof HTMLSelectElement ? document.activeElement.name : undefined;
  const openPreview = document.querySelector<HTMLElement>('.result[aria-current]')?.dataset['preview'];
  const results = document.querySelector('#results');
  results?.removeAttribute('aria-busy');
  results?.removeAttribute('data-full');
  replace('#facets', page);
  replace('#results', page);
  if (focused !== undefined) document.querySelector<HTMLElement>(`#facets [name="${focused}"]`)?.focus();
  for (const row of document.querySelectorAll<HTMLElement>('.result')) {
    if (row.dataset['preview'] === openPreview) row.setAttribute('aria-current', 'true');
  }
}

function watchPreviews(): void {
  const slot = document.querySelector<HTMLElement>('#preview-slot');
  if (!slot) return;
  const loader: Loader = {};
  let timer: ReturnType<typeof setTimeout> | undefined;
  // On a narrow screen there is no room for previews, so links lead to the page itself.
  const hasRoom = (): boolean => matchMedia('(min-width: 64rem)').matches;
  const close = (): void => {
    slot.replaceChildren();
    for (const row of document.querySelectorAll('.result[aria-current]')) row.removeAttribute('aria-current');
  };
  const open = async (row: HTMLElement): Promise<void> => {
    if (row.getAttribute('aria-current') === 'true') return;
    for (const other of document.querySelectorAll('.result[aria-current]')) other.removeAttribute('aria-current');
    row.setAttribute('aria-current', 'true');
    slot.setAttribute('aria-busy', 'true');
    const page = await load(`${base}${row.dataset['preview'] ?? ''}`, loader);
    if (page === undefined) return;
    slot.removeAttribute('aria-busy');
    const preview = page.querySelector('#preview') ?? page.querySelector('main > *');
    if (!preview) return;
    showTimes(preview);
    slot.replaceChildren(preview);
    if (!(await showPdfPage(slot)) && preview.isConnected) showPassage(slot);
  };
  document.addEventListener('click', (event) => {
    const { target } = event;
    if (!(target instanceof Element)) return;
    if (target.closest('[data-close-preview]')) close();
    const row = target.closest<HTMLElement>('.result');
    const isControl = target.closest('.result-foot a, summary, .why-body') !== null;
    if (!row || isControl || !hasRoom() || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    void open(row);
  });
  document.addEventListener('focusin', ({ target }) => {
    const row = target instanceof Element ? target.closest<HTMLElement>('.result') : null;
    clearTimeout(timer);
    if (row && hasRoom()) timer = setTimeout(() => void open(row), previewPauseMs);
  });
  document.addEventListener('keydown', ({ key, target }) => {
    if (key === 'Escape' && !(target instanceof HTMLInputElement)) close();
  });
}

/** Scrolls the preview to the passage, without scrolling the page. */
function showPassage(slot: HTMLElement): void {
  const body = slot.querySelector<HTMLElement>('.preview-body');
  const passage = slot.querySelector<HTMLElement>('.passage') ?? slot.querySelector<HTMLElement>('#passage');
  if (!body || !passage) return;
  const above = body.clientHeight / 4;
  body.scrollTop += passage.getBoundingClientRect().top - body.getBoundingClientRect().top - above;
}
