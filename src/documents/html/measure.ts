import type { PageElement } from './page-tree.ts';

/** Amounts of text below an element, dropped parts not counted. The unit is `weightOf`. */
export interface Measures {
  text: number;
  /** The part of `text` that lies in links. */
  linked: number;
  links: number;
  /** What speaks for the text being content: long runs of unlinked text count more than scattered words. */
  points: number;
  /** There is a first-level heading, a `main` or an `article` below or at the element. */
  heading: boolean;
  main: boolean;
}

export type MeasureOf = (element: PageElement) => Measures;

export const blockTags = new Set(
  'address article aside blockquote body center caption dd details dir div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr li main menu nav ol p pre search section summary table tbody td tfoot th thead tr ul'.split(
    ' ',
  ),
);

const nothing: Measures = { text: 0, linked: 0, links: 0, points: 0, heading: false, main: false };

/** Bottom-up over document order, children before parents. */
export function measure(elements: PageElement[]): MeasureOf {
  const own = ownText(elements);
  const measures = new Map<PageElement, Measures>();
  for (let index = elements.length - 1; index >= 0; index -= 1) {
    const element = elements[index];
    if (!element || element.dropped) continue;
    const sum = totalOf(element, measures);
    const block = own.get(element);
    if (block) {
      sum.text += block.text;
      sum.linked += block.linked;
      sum.points += pointsOf(element, block.text, block.linked);
    }
    measures.set(element, sum);
  }
  return (element) => measures.get(element) ?? nothing;
}

function totalOf(element: PageElement, measures: Map<PageElement, Measures>): Measures {
  const sum: Measures = {
    ...nothing,
    links: element.tag === 'a' && element.attributes.has('href') ? 1 : 0,
    heading: element.tag === 'h1',
    main: element.tag === 'main' || element.tag === 'article' || element.attributes.get('role') === 'main',
  };
  for (const child of element.children) {
    const part = typeof child === 'string' ? undefined : measures.get(child);
    if (!part) continue;
    sum.text += part.text;
    sum.linked += part.linked;
    sum.links += part.links;
    sum.points += part.points;
    sum.heading ||= part.heading;
    sum.main ||= part.main;
  }
  return sum;
}

/** The text for which a block is the nearest one, and how much of it is linked. */
function ownText(elements: PageElement[]): Map<PageElement, { text: number; linked: number }> {
  const own = new Map<PageElement, { text: number; linked: number }>();
  const place = new Map<PageElement, { block: PageElement; linked: boolean; dropped: boolean }>();
  for (const element of elements) {
    const above = element.parent && place.get(element.parent);
    const here = {
      block: blockTags.has(element.tag) || !above ? element : above.block,
      linked: (above?.linked ?? false) || (element.tag === 'a' && element.attributes.has('href')),
      dropped: element.dropped || (above?.dropped ?? false),
    };
    place.set(element, here);
    if (here.dropped) continue;
    let weight = 0;
    for (const child of element.children) if (typeof child === 'string') weight += weightOf(child);
    if (weight === 0) continue;
    const sum = own.get(here.block) ?? { text: 0, linked: 0 };
    sum.text += weight;
    if (here.linked) sum.linked += weight;
    own.set(here.block, sum);
  }
  return own;
}

const cellTags = new Set(['td', 'th', 'li', 'dd', 'dt', 'h2', 'h3', 'h4']);

function pointsOf(element: PageElement, text: number, linked: number): number {
  const prose = text - linked;
  const density = linked / text;
  if (density > 0.5) return prose * 0.1;
  if (element.tag === 'pre') return prose;
  if (text < 25) return prose * (cellTags.has(element.tag) ? 0.5 : 0.2);
  return prose * (1 - density) * (element.tag === 'p' && text > 60 ? 1.3 : 1);
}

/** Characters that are not space. An ideograph or kana says about as much as two letters. */
export function weightOf(text: string): number {
  let weight = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code <= 32 || code === 160) continue;
    weight += code >= 0x2e80 && code <= 0xd7ff ? 2 : 1;
  }
  return weight;
}
