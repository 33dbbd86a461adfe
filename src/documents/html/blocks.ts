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

export type Block = { container: Container | null } & (
  | { kind: 'paragraph'; spans: Span[] }
  | { kind: 'term'; spans: Span[] }
  | { kind: 'heading'; level: number; spans: Span[] }
  | { kind: 'code'; text: string; language: string | null }
  | { kind: 'table'; rows: Cell[][]; hasHeader: boolean }
  | { kind: 'rule' }
);

export interface Cell {
  spans: Span[];
  isHeader: boolean;
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
  let container: Container | null = null;
  let style: Omit<Span, 'text' | 'image'> = { bold: false, italic: false, code: false, struck: false, href: null };
  let table: { rows: Cell[][]; inCell: boolean } | null = null;
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
    } else if (!child.isDropped) {
      if (addLeaf(child)) continue;
      stack.push({ element: child, next: 0, leave: enter(child) });
    }
  }
  flush();
  return blocks;

  /** Adds an element whose children need no visit. Returns false for other elements. */
  function addLeaf(element: PageElement): boolean {
    if (element.tag === 'br') addText('\n', true);
    else if (element.tag === 'wbr') return true;
    else if (element.tag === 'img') addImage(element);
    else if (element.tag === 'hr' && !table) addBlock({ kind: 'rule', container });
    else if (element.tag === 'pre' && !table) addCode(element);
    else return false;
    return true;
  }

  function addCode(element: PageElement): void {
    const text = verbatimText(element).slice(0, charsLeft);
    charsLeft -= text.length;
    if (text.trim() !== '') addBlock({ kind: 'code', text, language: codeLanguage(element), container });
  }

  function addBlock(block: Block): void {
    flush();
    blocks.push(block);
  }

  function addText(text: string, isVerbatim = false): void {
    if (table && !table.inCell) return;
    const limited = text.slice(0, charsLeft);
    charsLeft -= limited.length;
    const collapsed = isVerbatim ? limited : limited.replace(unevenSpace, ' ');
    spans.push({ ...style, text: table && isVerbatim ? ' ' : collapsed, image: null });
  }

  function addImage(element: PageElement): void {
    const alt = oneLine(element.attributes.get('alt') ?? '');
    const image = resolve(element.attributes.get('src') ?? '', baseUrl, imageSchemes);
    if (alt !== '' && image && !(table && !table.inCell)) spans.push({ ...style, text: alt, image });
  }

  /** Ends the current block. */
  function flush(kind: 'paragraph' | 'term' = 'paragraph', level = 0): void {
    if (table) {
      if (spans.length > 0) spans.push({ ...style, code: false, href: null, text: ' ', image: null });
      return;
    }
    if (spans.some((span) => span.text.trim() !== '')) {
      blocks.push(level > 0 ? { kind: 'heading', level, spans, container } : { kind, spans, container });
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
    const outerStyle = style;
    style = { ...style, ...styleOf(element, baseUrl) };
    return () => {
      style = outerStyle;
    };
  }

  function quoteMarks(): () => void {
    addText('“');
    return () => addText('”');
  }

  function enterContainer(kind: 'quote' | 'item', number: number | null, tag: string): () => void {
    const parent = container;
    const depth = (parent?.depth ?? 0) + 1;
    if (depth <= depthMax && tag !== 'dd') container = { kind, number, parent, depth };
    return () => {
      flush();
      container = parent;
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
    const current = { rows: [] as Cell[][], inCell: false };
    table = current;
    return () => {
      table = null;
      spans = [];
      const rows = current.rows.filter((row) => row.some((cell) => cell.spans.some((span) => span.text.trim() !== '')));
      if (rows.length > 0)
        blocks.push({ kind: 'table', rows, hasHeader: rows[0]?.every((cell) => cell.isHeader) ?? false, container });
    };
  }

  function enterInTable(element: PageElement, current: NonNullable<typeof table>): (() => void) | null {
    const { tag } = element;
    if (tag === 'tr') {
      current.rows.push([]);
      return null;
    }
    if (tag === 'caption') {
      current.inCell = true;
      spans = [];
      return () => {
        blocks.push({ kind: 'term', spans, container });
        spans = [];
        current.inCell = false;
      };
    }
    if (tag === 'td' || tag === 'th') {
      spans = [];
      current.inCell = true;
      return () => {
        const row = current.rows.at(-1);
        row?.push({ spans, isHeader: tag === 'th' });
        for (let extra = spanOf(element, row?.length ?? 0) - 1; extra > 0; extra -= 1)
          row?.push({ spans: [], isHeader: tag === 'th' });
        spans = [];
        current.inCell = false;
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
 * True if the element follows another inline element in a block without direct text, such as links in a bar. Style sheets
 * separate such elements; without a space, their words would run together.
 */
function needsSpaceBefore({ parent, position }: PageElement): boolean {
  if (!parent || !blockTags.has(parent.tag) || position === 0) return false;
  const previous = parent.children[position - 1];
  if (previous === undefined || typeof previous === 'string' || blockTags.has(previous.tag)) return false;
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
