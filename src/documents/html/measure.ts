import type { PageElement } from './page-tree.ts';

/** Amounts of text in an element, without dropped parts, as counted by `weightOf`. */
export interface Measures {
  text: number;
  /** The part of `text` inside links. */
  linked: number;
  links: number;
  /** Unlinked text in blocks that are long enough to be sentences, not labels. */
  prose: number;
  /** Evidence for content: long runs of unlinked text count more than scattered words. */
  points: number;
  /** The element is or contains a first-level heading. */
  heading: boolean;
  /** The element is or contains a `main` or an `article`. */
  main: boolean;
  /** The element contains a field or button. */
  control: boolean;
  /** The element is or contains a heading of any level. */
  titled: boolean;
}

export type MeasureOf = (element: PageElement) => Measures;

export const blockTags = new Set(
  'address article aside blockquote body center caption dd details dir div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr li main menu nav ol p pre search section summary table tbody td tfoot th thead tr ul'.split(
    ' ',
  ),
);

/** Measures all elements, children before parents. Uses an array per measure, because pages have many elements. */
export function measure(elements: PageElement[]): MeasureOf {
  const size = elements.length;
  const text = new Float64Array(size);
  const linked = new Float64Array(size);
  const points = new Float64Array(size);
  const prose = new Float64Array(size);
  const links = new Uint32Array(size);
  const flags = new Uint8Array(size);
  addOwnText(elements, text, linked);
  for (let index = size - 1; index >= 0; index -= 1) {
    const element = elements[index];
    if (!element || element.dropped) continue;
    const [own, ownLinked] = [text[index] ?? 0, linked[index] ?? 0];
    points[index] = (points[index] ?? 0) + pointsOf(element, own, ownLinked);
    if (own >= sentenceMin && ownLinked < own * 0.3) prose[index] = own - ownLinked;
  }
  for (let index = size - 1; index >= 0; index -= 1) {
    const element = elements[index];
    if (!element || element.dropped) continue;
    if (element.tag === 'a' && element.attributes.has('href')) links[index] = (links[index] ?? 0) + 1;
    flags[index] = (flags[index] ?? 0) | flagsOf(element);
    const above = element.parent?.order;
    if (above === undefined) continue;
    for (const column of [text, linked, points, prose, links])
      column[above] = (column[above] ?? 0) + (column[index] ?? 0);
    flags[above] = (flags[above] ?? 0) | (flags[index] ?? 0);
  }
  return ({ order }) => {
    const has = (flag: number): boolean => ((flags[order] ?? 0) & flag) !== 0;
    return {
      text: text[order] ?? 0,
      linked: linked[order] ?? 0,
      links: links[order] ?? 0,
      points: points[order] ?? 0,
      prose: prose[order] ?? 0,
      heading: has(headingFlag),
      main: has(mainFlag),
      control: has(controlFlag),
      titled: has(titledFlag),
    };
  };
}

const headingFlag = 1;
const mainFlag = 2;
const controlFlag = 4;
const titledFlag = 8;

function flagsOf({ tag, attributes, hasControl }: PageElement): number {
  const control = hasControl ? controlFlag : 0;
  if (tag === 'h1') return headingFlag | titledFlag | control;
  if (/^h[2-6]$/.test(tag)) return titledFlag | control;
  return control | (tag === 'main' || tag === 'article' || attributes.get('role') === 'main' ? mainFlag : 0);
}

/** Min text of a block with sentences. A block with less is a label, a button or a menu entry. */
const sentenceMin = 40;

const linkedState = 1;
const droppedState = 2;

/** Adds each text to the nearest block around it. Counts linked text separately too. */
function addOwnText(elements: PageElement[], text: Float64Array, linked: Float64Array): void {
  const blocks = new Uint32Array(elements.length);
  const states = new Uint8Array(elements.length);
  for (const element of elements) {
    const { order, tag } = element;
    const above = element.parent?.order;
    const block = blockTags.has(tag) || above === undefined ? order : (blocks[above] ?? 0);
    let state = above === undefined ? 0 : (states[above] ?? 0);
    if (tag === 'a' && element.attributes.has('href')) state |= linkedState;
    if (element.dropped) state |= droppedState;
    blocks[order] = block;
    states[order] = state;
    if (state & droppedState) continue;
    let weight = 0;
    for (const child of element.children) if (typeof child === 'string') weight += weightOf(child);
    text[block] = (text[block] ?? 0) + weight;
    if (state & linkedState) linked[block] = (linked[block] ?? 0) + weight;
  }
}

const cellTags = new Set(['td', 'th', 'li', 'dd', 'dt', 'h2', 'h3', 'h4']);

function pointsOf(element: PageElement, text: number, linked: number): number {
  if (text === 0) return 0;
  const prose = text - linked;
  const density = linked / text;
  if (density > 0.5) return prose * 0.1;
  if (element.tag === 'pre') return prose;
  if (text < 25) return prose * (cellTags.has(element.tag) ? 0.5 : 0.2);
  return prose * (1 - density) * (element.tag === 'p' && text > 60 ? 1.3 : 1);
}

/** Counts characters without spaces. An ideograph or kana counts twice: it says about as much as two letters. */
export function weightOf(text: string): number {
  let weight = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code <= 32 || code === 160) continue;
    weight += code >= 0x2e80 && code <= 0xd7ff ? 2 : 1;
  }
  return weight;
}
