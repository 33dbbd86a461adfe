/** Makes buttons with `data-copy="#id"` copy the text of that element. */
export function watchCopyButtons(): void {
  showCopyButtons(document);
  document.addEventListener('click', async ({ target }) => {
    const button = target instanceof Element ? target.closest<HTMLElement>('[data-copy]') : null;
    if (!button) return;
    const text = document.querySelector(button.dataset['copy'] ?? '')?.textContent ?? '';
    const isCopied = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
    button.dataset['label'] ??= button.getAttribute('aria-label') ?? button.textContent ?? 'Copy';
    setLabel(button, isCopied ? 'Copied' : 'Select and copy it');
    if (isCopied) showIcon(button, 'check');
    setTimeout(() => {
      setLabel(button, button.dataset['label'] ?? 'Copy');
      showIcon(button, 'copy');
    }, 2_000);
  });
}

/** Shows the copy buttons, which are hidden in browsers without script. */
export function showCopyButtons(root: ParentNode): void {
  for (const button of root.querySelectorAll<HTMLButtonElement>('[data-copy]')) button.hidden = false;
}

function showIcon(button: HTMLElement, name: string): void {
  const use = button.querySelector('use');
  use?.setAttribute('href', (use.getAttribute('href') ?? '').replace(/#.*/, `#${name}`));
}

function setLabel(button: HTMLElement, label: string): void {
  button.title = label;
  button.setAttribute('aria-label', label);
}
