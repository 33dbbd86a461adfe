import type { PageElement } from './page-tree.ts';

/** Amounts of text in an element, without dropped parts, as counted by `weightOf`. */
export interface Measures {
  text: number;
  /** The part of `text` inside links. */
  linkedText: number;
  links: number;
  /** Unlinked text in blocks that are long enough to be sentences, not labels. */
  prose: number;
  /** Content score: long runs of unlinked text count more than scattered words. */
  points: number;
  /** The element is or contains a first-level heading. */
  hasTopHeading: boolean;
  /** The element is or contains a `main` or an `article`. */
  hasMain: boolean;
  /** The element contains a field or button. */
  hasControl: boolean;
  /** The element is or contains a heading of any level. */
  hasHeading: boolean;
}

export type MeasureOf = (element: PageElement) => Measures;

export const blockTags = new Set(
  'address article aside blockquote body center caption dd details dir div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr li main menu nav ol p pre search section summary table tbody td tfoot th thead tr ul'.split(
    ' ',
  ),
);

/** Measures all elements, children before parents. Stores each measure in a typed array to save memory. */
export function measure(elements: PageElement[]): MeasureOf {
  const size = elements.length;
  const text = new Float64Array(size);
  const linkedText = new Float64Array(size);
  const points = new Float64Array(size);
  const prose = new Float64Array(size);
  const links = new Uint32Array(size);
  const flags = new Uint8Array(size);
  addOwnText(elements, text, linkedText);
  for (let index = size - 1; index >= 0; index -= 1) {
    const element = elements[index];
    if (!element || element.isDropped) continue;
    const [ownText, ownLinkedText] = [text[index] ?? 0, linkedText[index] ?? 0];
    points[index] = (points[index] ?? 0) + pointsOf(element, ownText, ownLinkedText);
    if (ownText >= sentenceMin && ownLinkedText < ownText * 0.3) prose[index] = ownText - ownLinkedText;
  }
  for (let index = size - 1; index >= 0; index -= 1) {
    const element = elements[index];
    if (!element || element.isDropped) continue;
    if (element.tag === 'a' && element.attributes.has('href')) links[index] = (links[index] ?? 0) + 1;
    flags[index] = (flags[index] ?? 0) | flagsOf(element);
    const parent = element.parent?.order;
    if (parent === undefined) continue;
    for (const column of [text, linkedText, points, prose, links])
      column[parent] = (column[parent] ?? 0) + (column[index] ?? 0);
    flags[parent] = (flags[parent] ?? 0) | (flags[index] ?? 0);
  }
  return ({ order }) => {
    const has = (flag: number): boolean => ((flags[order] ?? 0) & flag) !== 0;
    return {
      text: text[order] ?? 0,
      linkedText: linkedText[order] ?? 0,
      links: links[order] ?? 0,
      points: points[order] ?? 0,
      prose: prose[order] ?? 0,
      hasTopHeading: has(topHeadingFlag),
      hasMain: has(mainFlag),
      hasControl: has(controlFlag),
      hasHeading: has(headingFlag),
    };
  };
}

const topHeadingFlag = 1;
const mainFlag = 2;
const controlFlag = 4;
const headingFlag = 8;

function flagsOf(element: PageElement): number {
  const { tag, attributes } = element;
  const control = element.hasControl ? controlFlag : 0;
  if (tag === 'h1') return topHeadingFlag | headingFlag | control;
  if (/^h[2-6]$/.test(tag)) return headingFlag | control;
  return control | (tag === 'main' || tag === 'article' || attributes.get('role') === 'main' ? mainFlag : 0);
}

/** Min text of a block with sentences. A block with less is a label, a button or a menu entry. */
const sentenceMin = 40;

const linkedState = 1;
const droppedState = 2;

/** Adds each text to the nearest block around it. Counts linked text separately too. */
function addOwnText(elements: PageElement[], text: Float64Array, linkedText: Float64Array): void {
  const blocks = new Uint32Array(elements.length);
  const states = new Uint8Array(elements.length);
  for (const element of elements) {
    const { order, tag } = element;
    const parent = element.parent?.order;
    const block = blockTags.has(tag) || parent === undefined ? order : (blocks[parent] ?? 0);
    let state = parent === undefined ? 0 : (states[parent] ?? 0);
    if (tag === 'a' && element.attributes.has('href')) state |= linkedState;
    if (element.isDropped) state |= droppedState;
    blocks[order] = block;
    states[order] = state;
    if (state & droppedState) continue;
    let weight = 0;
    for (const child of element.children) if (typeof child === 'string') weight += weightOf(child);
    text[block] = (text[block] ?? 0) + weight;
    if (state & linkedState) linkedText[block] = (linkedText[block] ?? 0) + weight;
  }
}

const cellTags = new Set(['td', 'th', 'li', 'dd', 'dt', 'h2', 'h3', 'h4']);

function pointsOf(element: PageElement, text: number, linkedText: number): number {
  if (text === 0) return 0;
  const unlinkedText = text - linkedText;
  const density = linkedText / text;
  if (density > 0.5) return unlinkedText * 0.1;
  if (element.tag === 'pre') return unlinkedText;
  if (text < 25) return unlinkedText * (cellTags.has(element.tag) ? 0.5 : 0.2);
  return unlinkedText * (1 - density) * (element.tag === 'p' && text > 60 ? 1.3 : 1);
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
