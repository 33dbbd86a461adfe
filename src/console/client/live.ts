import { showCopyButtons } from './copy.ts';
import { showTimes } from './times.ts';

const typingPauseMs = 180;

/** Loads one page at a time. A later request aborts an earlier one. */
export interface Loader {
  request?: XMLHttpRequest;
}

/** Loads and parses a page; undefined if that failed or a later request replaced this one. */
export function load(address: string, loader: Loader): Promise<Document | undefined> {
  loader.request?.abort();
  const request = new XMLHttpRequest();
  loader.request = request;
  return new Promise((resolve) => {
    request.open('GET', address);
    request.responseType = 'document';
    request.onload = () =>
      resolve(request.status < 500 ? ((request.response as Document | null) ?? undefined) : undefined);
    request.onerror = request.onabort = () => resolve(undefined);
    request.send();
  });
}

/** Replaces the content of one element; the focused row keeps the focus. */
export function replace(selector: string, page: Document | undefined): void {
  const [current, next] = [document.querySelector(selector), page?.querySelector(selector)];
  if (!current || !next) return;
  showTimes(next);
  showCopyButtons(next);
  // Unchanged content stays, because screen readers would read it out again every few seconds.
  if (current.isEqualNode(next)) return;
  const index = rows().indexOf(document.activeElement as HTMLElement);
  for (const { name, value } of next.attributes) current.setAttribute(name, value);
  current.replaceChildren(...next.childNodes);
  if (index >= 0) rows()[index]?.focus();
}

/** Matches the rows that the keys j and k move through. Excludes code and tables, which are focusable for scrolling. */
export const rowSelector = 'main [tabindex="0"]:not(pre, .table-scroll)';

export function rows(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>(rowSelector)];
}

/** Makes forms with `data-live="#id"` update that element as the user types. */
export function watchLiveForms(): void {
  for (const form of document.querySelectorAll<HTMLFormElement>('form[data-live]')) {
    const loader: Loader = {};
    const selector = form.dataset['live'] ?? '';
    let timer: ReturnType<typeof setTimeout> | undefined;
    const update = async (): Promise<void> => {
      const query = new URLSearchParams();
      for (const [name, value] of new FormData(form))
        if (typeof value === 'string' && value !== '') query.append(name, value);
      const address = `${form.getAttribute('action') ?? ''}?${query}`;
      history.replaceState(null, '', address);
      document.querySelector(selector)?.setAttribute('aria-busy', 'true');
      const page = await load(address, loader);
      if (page === undefined) return;
      document.querySelector(selector)?.removeAttribute('aria-busy');
      replace(selector, page);
    };
    form.addEventListener('input', () => {
      clearTimeout(timer);
      timer = setTimeout(update, typingPauseMs);
    });
  }
}

/** Reloads elements with an id and `data-refresh="ms"` while the page is visible. */
export function watchRefreshes(): void {
  for (const element of document.querySelectorAll<HTMLElement>('[data-refresh]')) {
    const loader: Loader = {};
    const refresh = async (): Promise<void> => {
      // A plot under the pointer keeps the value that it shows.
      const isPointedAt = () => element.querySelector('[data-pointed]') !== null;
      if (document.visibilityState === 'visible' && !isPointedAt()) {
        const page = await load(location.href, loader);
        if (!isPointedAt()) replace(`#${element.id}`, page);
      }
      setTimeout(refresh, Number(element.dataset['refresh']));
    };
    setTimeout(refresh, Number(element.dataset['refresh']));
  }
}
