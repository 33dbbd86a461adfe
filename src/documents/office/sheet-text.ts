import type { ExtractMode, Reading } from '../document.ts';

/**
 * The rows of a workbook as tables under the names of its sheets, printed while they are read: a sheet may have a million
 * cells, and an object for each would not fit. An empty row ends a table; the first row of each names its columns.
 */
export interface SheetText {
  startSheet(name: string): void;
  /** Cells from the first column on. Empty ones at the end are left out. */
  addRow(cells: readonly string[]): void;
  readonly isFull: boolean;
  finish(): Pick<Reading, 'text' | 'truncated'>;
}

/** Wider than any table that people read; dimensions that a file declares are not looked at. */
export const columnsMax = 1024;

export function createSheetText(mode: ExtractMode, charsMax: number): SheetText {
  const parts: string[] = [];
  let units = 0;
  let header: string[] | undefined;
  let lines: string[] = [];
  let width = 0;

  return {
    startSheet(name) {
      endTable();
      push(mode === 'markdown' ? `# ${oneLine(name)}` : oneLine(name));
    },
    addRow(cells) {
      const last = cells.findLastIndex((cell) => cell.trim() !== '');
      if (last === -1) {
        endTable();
        return;
      }
      const row = cells.slice(0, Math.min(last + 1, columnsMax)).map(mode === 'markdown' ? escapedCell : oneLine);
      width = Math.max(width, row.length);
      const line = printRow(row);
      units += line.length + 1;
      if (header) lines.push(line);
      else header = row;
    },
    get isFull() {
      return units > charsMax;
    },
    finish() {
      endTable();
      return { text: parts.join('\n\n'), truncated: units > charsMax };
    },
  };

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

function escapedCell(text: string): string {
  return oneLine(text).replaceAll('|', '\\|');
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
