/** The secret path that comes before all paths of a session without TLS. Otherwise empty. */
export const base = document.documentElement.dataset['base'] ?? '';

/** Returns a visitor to the path of the session, if the sign-in form appears outside that path. */
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
