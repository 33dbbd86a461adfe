import { oneLine } from '../../base/text.ts';
import { type ExtractMode, type Reading, type ReadOptions, truncatedParts } from '../document.ts';
import { cpuMs } from '../reader-limits.ts';

export type SheetText = ReturnType<typeof createSheetText>;

/** Max columns: more than any table that people read. Declared dimensions are ignored. */
export const columnsMax = 1024;

/** Max UTF-16 units of a cell, as in spreadsheet programs. */
const cellUnitsMax = 32_767;

/** Prints the sheets of a workbook until a limit is reached. `print` adds the content of one sheet. */
export function printSheets<Sheet extends { readonly name: string }>(
  sheets: readonly Sheet[],
  { mode, charsMax, stopAt }: ReadOptions,
  print: (sheet: Sheet, text: SheetText) => void,
): Pick<Reading, 'text' | 'truncated'> & { text: string } {
  const text = createSheetText(mode, charsMax);
  let read = 0;
  for (const sheet of sheets) {
    if (text.isFull || cpuMs() > stopAt) break;
    read += 1;
    text.startSheet(sheet.name);
    print(sheet, text);
  }
  const output = text.finish();
  const truncated = truncatedParts(read, sheets.length, 'sheets', output.truncated || cpuMs() > stopAt);
  return { ...output, truncated };
}

/**
 * Prints the rows of a workbook as tables under their sheet names. Prints while reading, because a sheet may have a million
 * cells. An empty row ends a table. The first row of each table is its header.
 */
export function createSheetText(mode: ExtractMode, charsMax: number) {
  const parts: string[] = [];
  let units = 0;
  let header: string[] | undefined;
  let lines: string[] = [];
  let width = 0;

  return {
    startSheet(name: string): void {
      endTable();
      push(mode === 'markdown' ? `# ${oneLine(name)}` : oneLine(name));
    },
    /** Adds a row, from the first column on. Trailing empty cells are omitted. */
    addRow(cells: readonly string[]): void {
      if (units > charsMax) return;
      const last = cells.findLastIndex((cell) => cell.trim() !== '');
      if (last === -1) {
        endTable();
        return;
      }
      const row = boundedRow(cells.slice(0, Math.min(last + 1, columnsMax)));
      width = Math.max(width, row.length);
      const line = printRow(row);
      units += line.length + 1;
      if (header) lines.push(line);
      else header = row;
    },
    /** Adds text that belongs to the sheet: a comment, a text box, a chart. */
    addParagraph(text: string): void {
      if (units > charsMax) return;
      endTable();
      units += text.length;
      push(text);
    },
    get isFull(): boolean {
      return units > charsMax;
    },
    finish() {
      endTable();
      return { text: parts.join('\n\n'), truncated: units > charsMax };
    },
  };

  /** Copies a row up to the text limit, because a thousand cells may share the same long text. */
  function boundedRow(cells: readonly string[]): string[] {
    const row: string[] = [];
    let left = charsMax - units;
    for (const cell of cells) {
      if (left < 0) break;
      const text = oneLine(cell.slice(0, cellUnitsMax));
      row.push(mode === 'markdown' ? text.replaceAll('|', '\\|') : text);
      left -= text.length + 3;
    }
    return row;
  }

  function endTable(): void {
    if (!header) return;
    while (header.length < width) header.push('');
    const rule = mode === 'markdown' ? [`|${' --- |'.repeat(width)}`] : [];
    push([printRow(header), ...rule, ...lines].join('\n'));
    header = undefined;
    lines = [];
    width = 0;
  }

  function push(text: string): void {
    units += 2;
    parts.push(text);
  }

  function printRow(row: readonly string[]): string {
    return mode === 'markdown' ? `| ${row.join(' | ')} |` : row.join(' | ');
  }
}
