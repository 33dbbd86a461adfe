/** The secret path above a session's pages, used without TLS. Otherwise empty. */
export const base = document.documentElement.dataset['base'] ?? '';

/** Redirects a visitor who has a session, but sees the sign-in form outside its path, back to that path. */
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
