import type { ExtractMode, Mark, Reading } from '../document.ts';
import type { Block, Cell, Container, Span } from '../html/blocks.ts';
import { printMarkdown } from '../html/print-markdown.ts';
import { printText } from '../html/print-text.ts';

/** Collects what a word processor or presentation holds, in order, into the blocks that pages are printed from. */
export interface Flow {
  addText(text: string): void;
  /** Ends the paragraph that is being collected. Inside of a table it is a part of its cell. */
  endParagraph(shape?: { heading?: number; inside?: Container | null }): void;
  openTable(): void;
  openRow(): void;
  openCell(): void;
  /** `columns` is how many columns of the table the cell takes. */
  closeCell(columns?: number): void;
  closeTable(): void;
  /** What follows lies on this page. */
  startPage(page: number): void;
  /** The title of a slide goes before its other text, wherever the file has it; a slide without one gets `title`. */
  endSlide(title: string): void;
  /** Text up to here is set aside: a footnote in the middle of a paragraph. Returns what was collected since, on leaving. */
  setAside(): () => string;
  /** More text than anybody asked for: reading can stop. */
  readonly isFull: boolean;
  /** The first heading of the highest level. */
  readonly topHeading: string | null;
  print(mode: ExtractMode): Pick<Reading, 'text' | 'marks' | 'truncated'>;
}

/** Columns that a cell can add by its span, and levels of lists that are shown. */
const columnsMax = 64;
const depthMax = 12;
/** What a cell costs beside its text, so that a million empty ones are not free. */
const cellUnits = 8;

interface Page {
  page: number | undefined;
  blocks: Block[];
}

export function createFlow(charsMax: number): Flow {
  const pages: Page[] = [{ page: undefined, blocks: [] }];
  let spans: Span[] = [];
  let units = 0;
  let tableDepth = 0;
  let rows: Cell[][] = [];
  let cell: Span[] | undefined;

  return {
    addText(text) {
      if (text === '' || units > charsMax) return;
      units += text.length;
      spans.push(plainSpan(text));
    },
    endParagraph({ heading = 0, inside = null } = {}) {
      if (cell) {
        if (spans.length > 0) cell.push(...spans, plainSpan(' '));
      } else if (spans.some((span) => span.text.trim() !== '')) {
        units += 2;
        const level = Math.min(heading, 6);
        current().blocks.push(
          level > 0 ? { kind: 'heading', level, spans, inside: null } : { kind: 'paragraph', spans, inside },
        );
      }
      spans = [];
    },
    openTable() {
      if (tableDepth === 0) this.endParagraph();
      tableDepth += 1;
    },
    openRow() {
      if (tableDepth === 1) rows.push([]);
    },
    openCell() {
      if (tableDepth === 1) cell = [];
    },
    closeCell(columns = 1) {
      this.endParagraph();
      if (tableDepth !== 1 || !cell) return;
      const row = rows.at(-1);
      row?.push({ spans: cell, head: false });
      for (let extra = Math.min(columns, columnsMax - (row?.length ?? 0)) - 1; extra > 0; extra -= 1) {
        row?.push({ spans: [], head: false });
      }
      units += cellUnits;
      cell = undefined;
    },
    closeTable() {
      tableDepth -= 1;
      if (tableDepth > 0) return;
      const filled = rows.filter((row) => row.some(({ spans: held }) => held.some((span) => span.text.trim() !== '')));
      // Office programs seldom mark the first row, and it nearly always names the columns.
      if (filled.length > 0) current().blocks.push({ kind: 'table', rows: filled, headed: true, inside: null });
      rows = [];
      cell = undefined;
    },
    startPage(page) {
      pages.push({ page, blocks: [] });
    },
    endSlide(title) {
      const { blocks } = current();
      const index = blocks.findIndex((block) => block.kind === 'heading');
      const [own] = index === -1 ? [] : blocks.splice(index, 1);
      blocks.unshift(own ?? { kind: 'heading', level: 1, spans: [plainSpan(title)], inside: null });
    },
    setAside() {
      const [outer, outerCell] = [spans, cell];
      spans = [];
      cell = [];
      return () => {
        const text = [...(cell ?? []), ...spans].map((span) => span.text).join('');
        [spans, cell] = [outer, outerCell];
        return text.replace(/\s+/g, ' ').trim();
      };
    },
    get isFull() {
      return units > charsMax;
    },
    get topHeading() {
      return topHeading(pages);
    },
    print: (mode) => ({ ...print(pages, mode), truncated: units > charsMax }),
  };

  function current(): Page {
    return pages.at(-1) as Page;
  }
}

/** An item of a list below `parent`, or of a list that stands alone. A null number is a bullet. */
export function listItem(parent: Container | null, number: number | null): Container {
  if (parent && parent.depth >= depthMax) return { ...parent, number };
  return { kind: 'item', number, parent, depth: (parent?.depth ?? 0) + 1 };
}

function plainSpan(text: string): Span {
  return { text, bold: false, italic: false, code: false, struck: false, href: null, image: null };
}

function print(pages: readonly Page[], mode: ExtractMode): { text: string; marks: Mark[] } {
  const parts: string[] = [];
  const marks: Mark[] = [];
  let offset = 0;
  for (const { page, blocks } of pages) {
    const text = mode === 'markdown' ? printMarkdown(blocks) : printText(blocks);
    if (text === '') continue;
    if (page !== undefined) marks.push({ offset, page });
    parts.push(text);
    offset += text.length + 2;
  }
  return { text: parts.join('\n\n'), marks };
}

function topHeading(pages: readonly Page[]): string | null {
  let best: { level: number; text: string } | undefined;
  for (const { blocks } of pages) {
    for (const block of blocks) {
      if (block.kind !== 'heading' || (best && best.level <= block.level)) continue;
      best = { level: block.level, text: block.spans.map((span) => span.text).join('') };
    }
  }
  return best?.text ?? null;
}
