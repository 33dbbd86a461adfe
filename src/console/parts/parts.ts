/**
 * The building blocks of pages: plain functions that return `Html`. Import them from here.
 *
 * - A page returns `{ title, body, toast?, layout? }`. Its body starts with `pageHeader({ title, trail, meta, actions })`; a list
 *   continues with `<form class="filters" method="get" data-live="#list">` and `<div id="list" aria-live="polite">`.
 * - Controls: `button`, `linkButton`, `iconButton` (kinds primary, secondary, quiet, danger), `field`, `textArea`, `select`,
 *   `checkbox`, `tagFields`, `changeForm` (POST), `confirmButton` (asks first, no script). Never a bare `<input>` or `<button>`.
 * - Content: `card`, `table` (labelled cards on a phone), `facts`, `stat`, `badge` (a state), `tagList`, `progress`, `meter`,
 *   `plot`, `notice`, `problem`, `emptyState`, `skeleton`, `tabs`, `pager`, `copyable`, `toast(message, undo)`.
 * - Words and numbers: `number`, `plural`, `bytes`, `duration`, `time` (relative; on hover exact, in the reader's time zone).
 * - Texts: `<div class="prose">${renderMarkdown(text)}</div>` (safe), `documentText(type, text)` (code, CSV,
 *   Markdown), `pdfPage` (a picture of a page), `plainText` (a snippet without marks), `marker(query)(text)`.
 * - Icons: `icon(name)`, `typeIcon(type)`, `sourceIcon(source)`; new ones go into icon-shapes.ts (Lucide).
 * - Layout classes: `row` (`row end`), `stack`, `grid` (cards side by side), `meta` (grey, small), `prose` (running text), `hits`
 *   and `hit`, `filters`. Colours, sizes and distances are the variables in styles/tokens.css; no inline styles.
 * - The script (client/console.ts) handles `data-live="#id"` (update while the user types), `data-refresh="ms"` with an id (poll),
 *   `data-copy="#id"`, `data-toast` and `time`. It adds keyboard navigation to everything with `tabindex="0"` in main.
 */
export * from './controls.ts';
export * from './display.ts';
export * from './document-text.ts';
export * from './form-values.ts';
export * from './format.ts';
export * from './icons.ts';
export * from './links.ts';
export * from './markdown.ts';
export * from './pdf-page.ts';
export * from './plot.ts';
