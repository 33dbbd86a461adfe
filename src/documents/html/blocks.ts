import { oneLine } from '../../base/text.ts';
import { codeLanguage, verbatimText } from './code.ts';
import { blockTags } from './measure.ts';
import type { PageElement } from './page-tree.ts';
import { isDataTable, spanOf } from './tables.ts';

/** A run of text with one style. */
export interface Span {
  text: string;
  bold: boolean;
  italic: boolean;
  code: boolean;
  struck: boolean;
  href: string | null;
  /** Address of an image; `text` is its description. */
  image: string | null;
}

/** A list item or quote around a block, linked to the container around it. */
export interface Container {
  kind: 'quote' | 'item';
  /** Number of an item in an ordered list; null for a bullet. */
  number: number | null;
  parent: Container | null;
  depth: number;
}

export type Block = { inside: Container | null } & (
  | { kind: 'paragraph'; spans: Span[] }
  | { kind: 'term'; spans: Span[] }
  | { kind: 'heading'; level: number; spans: Span[] }
  | { kind: 'code'; text: string; language: string | null }
  | { kind: 'table'; rows: Cell[][]; headed: boolean }
  | { kind: 'rule' }
);

export interface Cell {
  spans: Span[];
  head: boolean;
}

/** White space to replace by a single space. */
const unevenSpace = /[ \t\n\r\f]{2,}|[\t\n\r\f]/g;

/** Max depth of lists and quotes. Deeper ones are printed at this depth, because the indents would grow quadratically. */
const depthMax = 12;

interface Frame {
  element: PageElement;
  next: number;
  leave: (() => void) | null;
}

/**
 * Collects the content as a flat list of blocks, in order, to print as text or Markdown. Stops after `charsMax` characters of
 * the page. Does not recurse, because pages may be nested very deep.
 */
export function collectBlocks(root: PageElement, baseUrl: string | null, charsMax: number): Block[] {
  const blocks: Block[] = [];
  let spans: Span[] = [];
  let inside: Container | null = null;
  let style: Omit<Span, 'text' | 'image'> = { bold: false, italic: false, code: false, struck: false, href: null };
  let table: { rows: Cell[][]; headed: boolean; cell: boolean } | null = null;
  let charsLeft = charsMax;
  const listNumbers = new Map<PageElement, number>();

  const stack: Frame[] = [{ element: root, next: 0, leave: enter(root) }];
  for (let frame = stack.at(-1); frame && charsLeft > 0; frame = stack.at(-1)) {
    const child = frame.element.children[frame.next];
    frame.next += 1;
    if (child === undefined) {
      stack.pop();
      frame.leave?.();
    } else if (typeof child === 'string') {
      if (child !== '') addText(child);
    } else if (!child.dropped) {
      if (isLeaf(child)) continue;
      stack.push({ element: child, next: 0, leave: enter(child) });
    }
  }
  flush();
  return blocks;

  /** Handles an element whose children need no visit. Returns false for any other. */
  function isLeaf(element: PageElement): boolean {
    if (element.tag === 'br') addText('\n', true);
    else if (element.tag === 'wbr') return true;
    else if (element.tag === 'img') addImage(element);
    else if (element.tag === 'hr' && !table) addBlock({ kind: 'rule', inside });
    else if (element.tag === 'pre' && !table) addCode(element);
    else return false;
    return true;
  }

  function addCode(element: PageElement): void {
    const text = verbatimText(element).slice(0, charsLeft);
    charsLeft -= text.length;
    if (text.trim() !== '') addBlock({ kind: 'code', text, language: codeLanguage(element), inside });
  }

  function addBlock(block: Block): void {
    flush();
    blocks.push(block);
  }

  function addText(text: string, verbatim = false): void {
    if (table && !table.cell) return;
    const fitting = text.slice(0, charsLeft);
    charsLeft -= fitting.length;
    const spaced = verbatim ? fitting : fitting.replace(unevenSpace, ' ');
    spans.push({ ...style, text: table && verbatim ? ' ' : spaced, image: null });
  }

  function addImage(element: PageElement): void {
    const alt = oneLine(element.attributes.get('alt') ?? '');
    const image = resolve(element.attributes.get('src') ?? '', baseUrl, imageSchemes);
    if (alt !== '' && image && !(table && !table.cell)) spans.push({ ...style, text: alt, image });
  }

  /** Ends the current block. */
  function flush(kind: 'paragraph' | 'term' = 'paragraph', level = 0): void {
    if (table) {
      if (spans.length > 0) spans.push({ ...style, code: false, href: null, text: ' ', image: null });
      return;
    }
    if (spans.some((span) => span.text.trim() !== '')) {
      blocks.push(level > 0 ? { kind: 'heading', level, spans, inside } : { kind, spans, inside });
    }
    spans = [];
  }

  /** Starts an element. Returns the action for its end. */
  function enter(element: PageElement): (() => void) | null {
    const { tag } = element;
    if (tag === 'table' && !table && isDataTable(element)) return enterTable();
    if (table) return enterInTable(element, table);
    if (tag === 'q') return quoteMarks();
    if (!blockTags.has(tag)) return enterInline(element);
    flush();
    if (tag === 'li' || tag === 'dd') return enterContainer('item', tag === 'li' ? itemNumber(element) : null, tag);
    if (tag === 'blockquote') return enterContainer('quote', null, tag);
    if (tag === 'ol') listNumbers.set(element, startOf(element));
    if (/^h[1-6]$/.test(tag)) return () => flush('paragraph', Number(tag[1]));
    if (tag === 'dt' || tag === 'summary' || tag === 'caption') return () => flush('term');
    return () => flush();
  }

  function enterInline(element: PageElement): () => void {
    if (needsSpaceBefore(element) && spans.length > 0) addText(' ');
    const before = style;
    style = { ...style, ...styleOf(element, baseUrl) };
    return () => {
      style = before;
    };
  }

  function quoteMarks(): () => void {
    addText('“');
    return () => addText('”');
  }

  function enterContainer(kind: 'quote' | 'item', number: number | null, tag: string): () => void {
    const before = inside;
    const depth = (before?.depth ?? 0) + 1;
    if (depth <= depthMax && tag !== 'dd') inside = { kind, number, parent: before, depth };
    return () => {
      flush();
      inside = before;
    };
  }

  function itemNumber(element: PageElement): number | null {
    const list = element.parent;
    const number = list && listNumbers.get(list);
    if (!list || number === undefined || number === null) return null;
    listNumbers.set(list, number + 1);
    return number;
  }

  function enterTable(): () => void {
    flush();
    const current = { rows: [] as Cell[][], headed: false, cell: false };
    table = current;
    return () => {
      table = null;
      spans = [];
      const rows = current.rows.filter((row) => row.some((cell) => cell.spans.some((span) => span.text.trim() !== '')));
      if (rows.length > 0)
        blocks.push({ kind: 'table', rows, headed: rows[0]?.every((cell) => cell.head) ?? false, inside });
    };
  }

  function enterInTable(element: PageElement, current: NonNullable<typeof table>): (() => void) | null {
    const { tag } = element;
    if (tag === 'tr') {
      current.rows.push([]);
      return null;
    }
    if (tag === 'caption') {
      current.cell = true;
      spans = [];
      return () => {
        blocks.push({ kind: 'term', spans, inside });
        spans = [];
        current.cell = false;
      };
    }
    if (tag === 'td' || tag === 'th') {
      spans = [];
      current.cell = true;
      return () => {
        const row = current.rows.at(-1);
        row?.push({ spans, head: tag === 'th' });
        for (let extra = spanOf(element, row?.length ?? 0) - 1; extra > 0; extra -= 1)
          row?.push({ spans: [], head: tag === 'th' });
        spans = [];
        current.cell = false;
      };
    }
    if (blockTags.has(tag)) {
      flush();
      return () => flush();
    }
    return enterInline(element);
  }
}

/**
 * True if the element follows another inline element in a block that contains no direct text, such as links in a bar. Browsers
 * separate them by style sheets; here their words would run together.
 */
function needsSpaceBefore({ parent, position }: PageElement): boolean {
  if (!parent || !blockTags.has(parent.tag) || position === 0) return false;
  const before = parent.children[position - 1];
  if (before === undefined || typeof before === 'string' || blockTags.has(before.tag)) return false;
  return parent.children.slice(0, 20).every((child) => typeof child !== 'string' || child.trim() === '');
}

const linkSchemes = new Set(['http:', 'https:', 'mailto:', 'ftp:']);
const imageSchemes = new Set(['http:', 'https:']);

function styleOf(element: PageElement, baseUrl: string | null): Partial<Span> {
  switch (element.tag) {
    case 'b':
    case 'strong':
      return { bold: true };
    case 'i':
    case 'em':
    case 'cite':
    case 'dfn':
      return { italic: true };
    case 'code':
    case 'kbd':
    case 'samp':
    case 'tt':
      return { code: true };
    case 's':
    case 'del':
    case 'strike':
      return { struck: true };
    case 'a':
      return { href: resolve(element.attributes.get('href') ?? '', baseUrl, linkSchemes) };
    default:
      return {};
  }
}

/** Resolves a link. Null if it points into the page, can't be resolved, or has an active scheme (`javascript:`). */
function resolve(address: string, baseUrl: string | null, schemes: Set<string>): string | null {
  const trimmed = address.trim();
  if (trimmed === '' || trimmed.startsWith('#') || trimmed.length > 4000) return null;
  if (!URL.canParse(trimmed, baseUrl ?? undefined)) return null;
  const url = new URL(trimmed, baseUrl ?? undefined);
  return schemes.has(url.protocol) ? url.href : null;
}

function startOf(list: PageElement): number {
  const start = Number.parseInt(list.attributes.get('start') ?? '1', 10);
  return Number.isInteger(start) && start >= 0 && start < 1e9 ? start : 1;
}
