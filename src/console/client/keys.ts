import { base } from './base.ts';
import { rowSelector, rows } from './live.ts';

const keys: Record<string, { label: string; run(): void }> = {
  '/': { label: 'Search', run: focusSearch },
  j: { label: 'Next', run: () => move(1) },
  k: { label: 'Previous', run: () => move(-1) },
  Enter: { label: 'Open', run: () => focusedRow()?.querySelector('a')?.click() },
  e: { label: 'Why this result', run: () => focusedRow()?.querySelector('summary')?.click() },
  ArrowDown: { label: 'Next', run: () => move(1) },
  ArrowUp: { label: 'Previous', run: () => move(-1) },
  '?': { label: 'Show these keys', run: showKeys },
};

/** Handles keys, so that every row can be reached and opened without a mouse. */
export function watchKeys(): void {
  document.addEventListener('keydown', (event) => {
    const { target, key } = event;
    if (!(target instanceof HTMLElement)) return;
    const isTyping = target.matches('input, textarea, select');
    if (isTyping && key === 'Escape') target.blur();
    if (key === 'ArrowDown' && target.matches('input[type=search]')) {
      event.preventDefault();
      move(1);
    }
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
    if (key === 'Enter' && target.matches('a, button, summary')) return;
    const action = Object.hasOwn(keys, key) ? keys[key] : undefined;
    // Arrow keys scroll the page, unless a row has the focus.
    if (!action || (key.startsWith('Arrow') && !focusedRow())) return;
    event.preventDefault();
    action.run();
  });
}

const { ArrowDown: _down, ArrowUp: _up, ...shownKeys } = keys;

function focusedRow(): Element | null | undefined {
  return document.activeElement?.closest(rowSelector);
}

function focusSearch(): void {
  const field = document.querySelector<HTMLElement>('input[type=search]');
  if (field) field.focus();
  else location.href = `${base}/`;
}

function move(step: number): void {
  const all = rows();
  const next = all[all.indexOf(focusedRow() as HTMLElement) + step] ?? (step > 0 ? all[0] : undefined);
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}

function showKeys(): void {
  const dialog = document.createElement('dialog');
  const title = document.createElement('h2');
  title.textContent = 'Keys';
  const list = document.createElement('dl');
  list.className = 'keys';
  for (const [key, { label }] of Object.entries({
    ...shownKeys,
    Esc: { label: 'Leave the field or close the dialog' },
  })) {
    const name = document.createElement('dt');
    name.append(Object.assign(document.createElement('kbd'), { textContent: key }));
    list.append(name, Object.assign(document.createElement('dd'), { textContent: label }));
  }
  const close = Object.assign(document.createElement('button'), {
    textContent: 'Close',
    className: 'button secondary',
  });
  close.addEventListener('click', () => dialog.close());
  dialog.addEventListener('close', () => dialog.remove());
  dialog.setAttribute('aria-label', 'Keys');
  dialog.append(title, list, close);
  document.body.append(dialog);
  dialog.showModal();
}
