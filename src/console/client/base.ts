/** Without TLS the pages of a session are below a secret path; empty where there is none. */
export const base = document.documentElement.dataset['base'] ?? '';

/** A visitor who comes to another address is led back to their session. */
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
