const shownMs = 10_000;

/** Removes the toast after a while, unless the pointer is on it. A reload doesn't show it again. */
export function watchToasts(): void {
  const toast = document.querySelector<HTMLElement>('[data-toast]');
  if (!toast) return;
  const address = new URL(location.href);
  address.searchParams.delete('done');
  history.replaceState(null, '', address);
  const hide = (): void => {
    if (toast.matches(':hover, :focus-within')) setTimeout(hide, 1_000);
    else toast.remove();
  };
  setTimeout(hide, shownMs);
}
