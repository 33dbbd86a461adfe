import type { PageElement } from './page-tree.ts';

/** Max characters read of a class or id. Class lists of generated pages have thousands; their start is enough. */
const charsMax = 400;

/**
 * Returns the words of an element's class and id in lower case: `siteHeader top_bar` gives site, header, siteheader, top, bar,
 * topbar. Ignores an id that only repeats the element's heading, as documentation generators write it.
 */
export function namesOf(element: PageElement): ReadonlySet<string> {
  if (!element.attributes.has('class') && !element.attributes.has('id')) return noNames;
  const names = new Set<string>();
  const id = element.attributes.get('id') ?? '';
  const className = element.attributes.get('class') ?? '';
  for (const value of [className, repeatsHeading(element, id) ? '' : id]) {
    for (const word of value.slice(0, charsMax).split(/\s+/)) addWords(word, names);
  }
  return names;
}

const noNames: ReadonlySet<string> = new Set();

function addWords(value: string, names: Set<string>): void {
  const words = value
    .replace(/([a-z])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== '');
  for (const [index, word] of words.entries()) {
    names.add(word);
    const next = words[index + 1];
    if (next) names.add(word + next);
  }
}

function repeatsHeading(element: PageElement, id: string): boolean {
  if (id === '') return false;
  const heading = element.children.find((child) => typeof child !== 'string' && /^h[1-6]$/.test(child.tag));
  if (!heading || typeof heading === 'string') return false;
  const text = heading.children.filter((child) => typeof child === 'string').join(' ');
  return slug(text) !== '' && slug(text) === slug(id);
}

function slug(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
}
