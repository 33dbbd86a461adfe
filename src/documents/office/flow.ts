import { oneLine } from '../../base/text.ts';
import type { ExtractMode, Mark, Reading } from '../document.ts';
import type { Block, Cell, Container, Span } from '../html/blocks.ts';
import { printMarkdown } from '../html/print-markdown.ts';
import { printText } from '../html/print-text.ts';

/** Collects the content of a text document or presentation, and prints it like a web page. */
export interface Flow {
  addText(text: string): void;
  addParagraph(text: string): void;
  /** Ends the current paragraph. Inside a table, the paragraph becomes part of the cell. */
  endParagraph(style?: { heading?: number; container?: Container | null }): void;
  openTable(): void;
  openRow(): void;
  openCell(): void;
  /** `columns` is how many columns the cell spans. */
  closeCell(columns?: number): void;
  closeTable(): void;
  /** Starts a page or slide with this number. */
  startPage(page: number): void;
  /** Ends a slide. Moves its heading before its other text. A slide without a heading gets `title`. */
  endSlide(title: string): void;
  /** Collects the following text separately, such as a footnote. The returned function ends this and returns the text. */
  capture(): () => string;
  /** True once the text limit is reached. */
  readonly isFull: boolean;
  /** The first heading of the highest level in the document. */
  readonly topHeading: string | null;
  finish(): Pick<Reading, 'text' | 'marks' | 'truncated'>;
}

/** Max columns that a cell can span, and max list levels. */
const columnsMax = 64;
const depthMax = 12;
/** Added to the text length for each cell, so that a million empty cells reach the limit too. */
const cellUnits = 8;
/** Max blocks and rows per batch. They are printed in batches, because as objects they need far more memory than as text. */
const blocksMax = 2000;
const rowsMax = 2000;

export function createFlow(mode: ExtractMode, charsMax: number): Flow {
  const parts: string[] = [];
  const marks: Mark[] = [];
  let printedLength = 0;
  let page: number | undefined;
  let blocks: Block[] = [];
  let line = '';
  let units = 0;
  let tableDepth = 0;
  let rows: Cell[][] = [];
  let cell: string | undefined;
  let topHeading: { level: number; text: string } | undefined;

  return {
    addText(text) {
      if (text === '' || units > charsMax) return;
      units += text.length;
      line += text;
    },
    addParagraph(text) {
      this.addText(text);
      this.endParagraph();
    },
    endParagraph({ heading = 0, container = null } = {}) {
      if (cell !== undefined) cell += `${line} `;
      else if (line.trim() !== '') {
        units += 2;
        if (heading > 0) pushHeading(Math.min(heading, 6));
        else push({ kind: 'paragraph', spans: [plainSpan(line)], container });
      }
      line = '';
    },
    openTable() {
      if (tableDepth === 0) this.endParagraph();
      tableDepth += 1;
    },
    openRow() {
      if (tableDepth !== 1) return;
      if (rows.length >= rowsMax) printRows(rows[0]);
      rows.push([]);
    },
    openCell() {
      if (tableDepth === 1) cell = '';
    },
    closeCell(columns = 1) {
      this.endParagraph();
      if (tableDepth !== 1 || cell === undefined) return;
      const row = rows.at(-1);
      row?.push({ spans: [plainSpan(cell)], isHeader: false });
      for (let extra = Math.min(columns, columnsMax - (row?.length ?? 0)) - 1; extra > 0; extra -= 1) {
        row?.push({ spans: [], isHeader: false });
      }
      units += cellUnits;
      cell = undefined;
    },
    closeTable() {
      tableDepth -= 1;
      if (tableDepth <= 0) endTable();
    },
    startPage(number) {
      printBlocks();
      page = number;
    },
    endSlide(title) {
      const index = blocks.findIndex((block) => block.kind === 'heading');
      const [heading] = index === -1 ? [] : blocks.splice(index, 1);
      blocks.unshift(heading ?? { kind: 'heading', level: 1, spans: [plainSpan(title)], container: null });
    },
    capture() {
      const [outer, outerCell] = [line, cell];
      [line, cell] = ['', ''];
      return () => {
        const text = `${cell ?? ''}${line}`;
        [line, cell] = [outer, outerCell];
        return oneLine(text);
      };
    },
    get isFull() {
      return units > charsMax;
    },
    get topHeading() {
      return topHeading?.text ?? null;
    },
    finish() {
      // Reading may have stopped inside a table.
      if (tableDepth > 0) {
        this.closeCell();
        endTable();
      }
      this.endParagraph();
      printBlocks();
      return { text: parts.join('\n\n'), marks, truncated: units > charsMax };
    },
  };

  function pushHeading(level: number): void {
    if (!topHeading || level < topHeading.level) topHeading = { level, text: line };
    push({ kind: 'heading', level, spans: [plainSpan(line)], container: null });
  }

  /** Adds a block. Prints a full batch first, but not inside a list, nor inside a slide, whose title may come last. */
  function push(block: Block): void {
    if (blocks.length >= blocksMax && page === undefined && !block.container) printBlocks();
    blocks.push(block);
  }

  function endTable(): void {
    tableDepth = 0;
    printRows(undefined);
    cell = undefined;
  }

  /** Prints the collected rows. `header` is repeated above the remaining ones. */
  function printRows(header: Cell[] | undefined): void {
    const filled = rows.filter((row) => row.some(({ spans }) => spans.some((span) => span.text.trim() !== '')));
    // The first row counts as a header: it nearly always names the columns, but office programs rarely mark it.
    if (filled.length > 0) push({ kind: 'table', rows: filled, hasHeader: true, container: null });
    if (header && page === undefined) printBlocks();
    rows = header ? [header] : [];
  }

  function printBlocks(): void {
    const text = mode === 'markdown' ? printMarkdown(blocks) : printText(blocks);
    blocks = [];
    if (text === '') return;
    if (page !== undefined) marks.push({ offset: printedLength, page });
    parts.push(text);
    printedLength += text.length + 2;
  }
}

/** Creates the items of lists in formats that only store the level of each item. */
export function createListItems() {
  let items: Container[] = [];
  return {
    /** Levels start at 0. If `number` is null, the item has a bullet. */
    add(level: number, number: number | null): Container {
      items = items.slice(0, level);
      const item = listItem(items.at(-1) ?? null, number);
      items.push(item);
      return item;
    },
    endList(): null {
      items = [];
      return null;
    },
  };
}

/** Creates a list item inside `parent`, or at the top level if that is null. If `number` is null, it has a bullet. */
export function listItem(parent: Container | null, number: number | null): Container {
  if (parent && parent.depth >= depthMax) return { ...parent, number };
  return { kind: 'item', number, parent, depth: (parent?.depth ?? 0) + 1 };
}

function plainSpan(text: string): Span {
  return { text, bold: false, italic: false, code: false, struck: false, href: null, image: null };
}
