import type { ReadOptions } from '../document.ts';
import { cpuMs } from '../reader-limits.ts';
import { attributeOf, type XmlAttributes, type XmlHandler } from '../xml/walk-xml.ts';
import { columnsMax, createSheetText } from './sheet-text.ts';

/** Max repetitions of a row. Sheets often end with one row that is repeated a million times. */
const repeatsMax = 100;

/** Reads the body of a spreadsheet. Uses the displayed text of cells, which files store next to the values. */
export function createOdfSheets(options: ReadOptions) {
  const text = createSheetText(options.mode, options.charsMax);
  let row: string[] = [];
  let repeats = 1;
  let cell: { displayed: string; value: string; repeats: number } | undefined;
  let isStopped = false;

  const handler: XmlHandler = {
    open(name, attributes) {
      if (name === 'table') text.startSheet(attributeOf(attributes, 'name') ?? '');
      else if (name === 'table-row') {
        row = [];
        repeats = readRepeats(attributes, 'number-rows-repeated');
      } else if (name === 'table-cell' || name === 'covered-table-cell') {
        cell = {
          displayed: '',
          value: cellValue(attributes),
          repeats: readRepeats(attributes, 'number-columns-repeated'),
        };
      } else if (!cell) return;
      else if (name === 'p' && cell.displayed !== '') cell.displayed += ' ';
      else if (name === 's' || name === 'tab' || name === 'line-break') cell.displayed += ' ';
    },
    close(name) {
      if ((name === 'table-cell' || name === 'covered-table-cell') && cell) {
        const displayed = cell.displayed.trim() === '' ? cell.value : cell.displayed;
        for (let times = Math.min(cell.repeats, columnsMax - row.length); times > 0; times -= 1) row.push(displayed);
        cell = undefined;
      } else if (name === 'table-row') {
        const isEmpty = row.every((value) => value === '');
        for (let times = isEmpty ? 1 : Math.min(repeats, repeatsMax); times > 0 && !text.isFull; times -= 1) {
          text.addRow(row);
        }
      }
    },
    text(part) {
      if (cell) cell.displayed += part;
    },
    isDone() {
      isStopped ||= cpuMs() > options.stopAt;
      return text.isFull || isStopped;
    },
  };
  return {
    handler,
    addParagraph: text.addParagraph,
    finish() {
      const result = text.finish();
      return { ...result, truncated: result.truncated || isStopped };
    },
  };
}

function readRepeats(attributes: XmlAttributes, name: string): number {
  return Math.max(1, Number(attributeOf(attributes, name) ?? 1) || 1);
}

function cellValue(attributes: XmlAttributes): string {
  for (const name of ['string-value', 'date-value', 'time-value', 'boolean-value', 'value']) {
    const value = attributeOf(attributes, name);
    if (value !== undefined) return value;
  }
  return '';
}
