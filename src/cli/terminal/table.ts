import { printableLine } from './printable.ts';
import { fit, widthOf, wrap } from './text-width.ts';

export interface Column {
  readonly title: string;
  readonly align?: 'right';
  /** Share of the remaining width. If absent, the column is as wide as its longest cell. */
  readonly share?: number;
  /** Which end of a truncated cell to keep: `end` for paths, because their last part matters most. */
  readonly keeps?: 'start' | 'end';
  /** Max lines per cell. */
  readonly lines?: number;
}

export interface TableOptions {
  readonly columns: number;
  readonly style: (text: string) => string;
}

const gap = 2;
const shareMin = 8;

/** Renders rows as a table that fits the terminal. Cells are untrusted text. */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { columns: totalWidth, style }: TableOptions,
): string {
  const cells = rows.map((row) => columns.map((_, index) => printableLine(row[index] ?? '')));
  // Columns that are empty in every row are dropped.
  const shownColumns = columns.flatMap((column, index) =>
    cells.some((row) => row[index] !== '') ? [{ column, cells: cells.map((row) => row[index] ?? '') }] : [],
  );
  const widths = share(
    shownColumns.map(({ column, cells: own }) => ({
      natural: Math.max(widthOf(column.title), ...own.map(widthOf)),
      share: column.share,
    })),
    totalWidth - gap * (shownColumns.length - 1),
  );
  const line = (parts: readonly string[]): string =>
    parts
      .map((part, index) => pad(part, widths[index] ?? 0, shownColumns[index]?.column.align))
      .join(' '.repeat(gap))
      .trimEnd();
  const shown = cells.map((_, row) => {
    const parts = shownColumns.map(({ column, cells: own }, index) => {
      const [text, width] = [own[row] ?? '', widths[index] ?? 0];
      return column.lines === undefined ? [fit(text, width, column.keeps)] : wrap(text, width, column.lines);
    });
    const height = Math.max(...parts.map((part) => part.length));
    return Array.from({ length: height }, (__, index) => line(parts.map((part) => part[index] ?? ''))).join('\n');
  });
  return `${[style(line(shownColumns.map(({ column }) => column.title))), ...shown].join('\n')}\n`;
}

function pad(text: string, width: number, align: 'right' | undefined): string {
  const blank = ' '.repeat(Math.max(0, width - widthOf(text)));
  return align === 'right' ? `${blank}${text}` : `${text}${blank}`;
}

/** Distributes the remaining width. If a column needs less than its share, the other columns get the rest. */
function share(columns: readonly { natural: number; share: number | undefined }[], totalWidth: number): number[] {
  const widths = columns.map(({ natural, share: part }) => (part === undefined ? natural : 0));
  let left = totalWidth - widths.reduce((sum, width) => sum + width, 0);
  let parts = columns.reduce((sum, column) => sum + (column.share ?? 0), 0);
  const sharing = columns.flatMap((column, index) => (column.share === undefined ? [] : [{ ...column, index }]));
  // Starts with the columns that need the least in relation to their share.
  for (const { natural, share: part = 0, index } of sharing.toSorted(
    (a, b) => a.natural / (a.share ?? 1) - b.natural / (b.share ?? 1),
  )) {
    const width = Math.max(Math.min(natural, shareMin), Math.min(natural, Math.floor((left * part) / parts)));
    widths[index] = width;
    left -= width;
    parts -= part;
  }
  return widths;
}
