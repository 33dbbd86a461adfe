/** The secret path with which all URLs of a session without TLS start; empty with TLS or without a session. */
export const base = document.documentElement.dataset['base'] ?? '';

/** Sends a visitor who sees the sign-in form outside the session's secret path back to that path. */
export function restoreBase(): void {
  if (base !== '') localStorage.setItem('base', base);
  else if (document.querySelector('form.sign-in')) {
    const stored = localStorage.getItem('base') ?? '';
    const [here] = /^\/~[\w-]{22}(?=\/)/.exec(location.pathname) ?? [''];
    const path = location.pathname.slice(here.length);
    if (stored === here) localStorage.removeItem('base');
    else if (stored !== '') location.replace(`${stored}${path === '/sign-in' ? '/' : path}${location.search}`);
  }
}
