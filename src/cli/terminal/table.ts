import { printableLine } from './printable.ts';
import { truncate, widthOf, wrap } from './text-width.ts';

export interface Column {
  readonly title: string;
  readonly align?: 'right';
  /** Relative share of the remaining width. If absent, the column is as wide as its longest cell. */
  readonly weight?: number;
  /** Truncates long cells at their start. For paths, whose last part matters most. */
  readonly keepEnd?: boolean;
  /** Max lines per cell. */
  readonly lines?: number;
}

export interface TableOptions {
  /** Width of the terminal, in characters. */
  readonly totalWidth: number;
  readonly style: (text: string) => string;
}

const gap = 2;
/** Min width of a weighted column, unless its content is narrower. */
const weightedWidthMin = 8;

/** Renders rows as a table that fits the terminal. Cells are untrusted text. */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { totalWidth, style }: TableOptions,
): string {
  const cells = rows.map((row) => columns.map((_, index) => printableLine(row[index] ?? '')));
  // Columns that are empty in every row are dropped.
  const shownColumns = columns.flatMap((column, index) =>
    cells.some((row) => row[index] !== '') ? [{ column, cells: cells.map((row) => row[index] ?? '') }] : [],
  );
  const widths = distributeWidth(
    shownColumns.map(({ column, cells: columnCells }) => ({
      natural: Math.max(widthOf(column.title), ...columnCells.map(widthOf)),
      weight: column.weight,
    })),
    totalWidth - gap * (shownColumns.length - 1),
  );
  const line = (parts: readonly string[]): string =>
    parts
      .map((part, index) => pad(part, widths[index] ?? 0, shownColumns[index]?.column.align))
      .join(' '.repeat(gap))
      .trimEnd();
  const renderedRows = cells.map((_, row) => {
    const parts = shownColumns.map(({ column, cells: columnCells }, index) => {
      const [text, width] = [columnCells[row] ?? '', widths[index] ?? 0];
      return column.lines === undefined ? [truncate(text, width, column.keepEnd)] : wrap(text, width, column.lines);
    });
    const height = Math.max(...parts.map((part) => part.length));
    return Array.from({ length: height }, (__, index) => line(parts.map((part) => part[index] ?? ''))).join('\n');
  });
  return `${[style(line(shownColumns.map(({ column }) => column.title))), ...renderedRows].join('\n')}\n`;
}

function pad(text: string, width: number, align: 'right' | undefined): string {
  const blank = ' '.repeat(Math.max(0, width - widthOf(text)));
  return align === 'right' ? `${blank}${text}` : `${text}${blank}`;
}

/** Distributes the remaining width by weight. If a column needs less, the other columns get the difference. */
function distributeWidth(
  columns: readonly { natural: number; weight: number | undefined }[],
  totalWidth: number,
): number[] {
  const widths = columns.map(({ natural, weight }) => (weight === undefined ? natural : 0));
  let remainingWidth = totalWidth - widths.reduce((sum, width) => sum + width, 0);
  let remainingWeight = columns.reduce((sum, { weight = 0 }) => sum + weight, 0);
  const weighted = columns.flatMap(({ natural, weight }, index) =>
    weight === undefined ? [] : [{ natural, weight, index }],
  );
  // Starts with the columns that need the least in relation to their weight.
  weighted.sort((a, b) => a.natural / a.weight - b.natural / b.weight);
  for (const { natural, weight, index } of weighted) {
    const share = Math.floor((remainingWidth * weight) / remainingWeight);
    const width = Math.min(natural, Math.max(weightedWidthMin, share));
    widths[index] = width;
    remainingWidth -= width;
    remainingWeight -= weight;
  }
  return widths;
}
