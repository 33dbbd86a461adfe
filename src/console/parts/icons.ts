import { createHash } from 'node:crypto';
import { type Html, html } from '../html.ts';
import { type IconName, iconShapes } from './icon-shapes.ts';

/** All icons in one SVG file, which browsers cache until it changes. */
export const iconSprite = `<svg xmlns="http://www.w3.org/2000/svg">${Object.entries(iconShapes)
  .map(([name, shape]) => `<symbol id="${name}" viewBox="0 0 24 24">${shape}</symbol>`)
  .join('')}</svg>`;

const spriteAddress = `/console/icons.svg?${createHash('sha256').update(iconSprite).digest('hex').slice(0, 12)}`;

/** Renders an icon. Without a text next to it, it needs a label. */
export function icon(name: IconName, label?: string): Html {
  const shape = html`<use href="${spriteAddress}#${name}"></use>`;
  return label === undefined
    ? html`<svg class="icon" aria-hidden="true">${shape}</svg>`
    : html`<svg class="icon" role="img" aria-label="${label}">${shape}</svg>`;
}

const sourceIcons: Record<string, IconName> = {
  kb: 'book-open',
  context: 'brain',
  notes: 'notebook-pen',
  fess: 'server',
  web: 'globe',
};

/** Returns the icon of a source that `find` searches. */
export function sourceIcon(source: string): IconName {
  return sourceIcons[source] ?? 'database';
}

const typeIcons: readonly (readonly [RegExp, IconName])[] = [
  [/^(?:code|script|notebook|ipynb|[jt]sx?|py|java|go|rs|c|cpp|sh|sql)$/, 'file-code'],
  [/^(?:xlsx?|ods|csv|tsv|spreadsheet)$/, 'file-spreadsheet'],
  [/^(?:pptx?|odp|presentation)$/, 'presentation'],
  [/^(?:json|jsonl|ya?ml|toml|xml)$/, 'file-json'],
  [/^(?:png|jpe?g|gif|webp|tiff?|image)$/, 'file-image'],
  [/^(?:eml|msg|mbox|e?mail)$/, 'mail'],
  [/^(?:html?|url|web|page)$/, 'globe'],
  [/^(?:epub|book)$/, 'book-open'],
  [/^(?:zip|tar|gz|archive)$/, 'archive'],
  [/^note$/, 'notebook-pen'],
];

/** Returns the icon for a document type, as `kb_list` names it, or for a file extension. */
export function typeIcon(type: string): IconName {
  return typeIcons.find(([pattern]) => pattern.test(type.toLowerCase()))?.[1] ?? 'file-text';
}
