/** Without TLS, a session's pages are below a secret path. Empty if there is none. */
export const base = document.documentElement.dataset['base'] ?? '';

/** Redirects a visitor who sees the sign-in form elsewhere back to their session. */
export function keepBase(): void {
  if (base !== '') localStorage.setItem('base', base);
  else if (document.querySelector('form.sign-in')) {
    const kept = localStorage.getItem('base') ?? '';
    const [here] = /^\/~[\w-]{22}(?=\/)/.exec(location.pathname) ?? [''];
    const path = location.pathname.slice(here.length);
    if (kept === here) localStorage.removeItem('base');
    else if (kept !== '') location.replace(`${kept}${path === '/sign-in' ? '/' : path}${location.search}`);
  }
}
