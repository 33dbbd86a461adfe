/** The secret path at the start of a session's URLs; empty with TLS or without a session. */
export const base = document.documentElement.dataset['base'] ?? '';

/** Redirects to the session's secret path if the sign-in form is shown outside it. */
export function restoreBase(): void {
  if (base !== '') localStorage.setItem('base', base);
  else if (document.querySelector('form.sign-in')) {
    const stored = localStorage.getItem('base') ?? '';
    const [currentBase] = /^\/~[\w-]{22}(?=\/)/.exec(location.pathname) ?? [''];
    const path = location.pathname.slice(currentBase.length);
    if (stored === currentBase) localStorage.removeItem('base');
    else if (stored !== '') location.replace(`${stored}${path === '/sign-in' ? '/' : path}${location.search}`);
  }
}
