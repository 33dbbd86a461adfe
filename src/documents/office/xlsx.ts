import { CarrelError } from '../../base/errors.ts';
import type { Reading, ReadOptions } from '../document.ts';
import { cpuMs } from '../reader-limits.ts';
import { prefixedAttribute } from '../xml/walk-xml.ts';
import { readAttached } from './attached-text.ts';
import { type OoxmlPackage, openOoxml } from './ooxml-package.ts';
import { columnsMax, printSheets, type SheetText } from './sheet-text.ts';
import { type FormatNumber, readNumberFormats } from './xlsx-numbers.ts';

/** Reads a workbook: every sheet as tables under its name. Formulas have their last calculated values. */
export function readXlsx(bytes: Uint8Array, options: ReadOptions): Reading {
  const document = openOoxml(bytes);
  const relations = document.relationsOf(document.main);
  const partOf = (type: string) => relations.find((relation) => relation.type === type)?.target;
  const { sheets, startsIn1904 } = sheetsOf(document, relations);
  const sharedStrings = readSharedStrings(document, partOf('sharedStrings'));
  const formatNumber = readNumberFormats(document, partOf('styles'), startsIn1904);
  const output = printSheets(sheets, options, ({ part }, text) => {
    readSheet(document, part, { sharedStrings, formatNumber, text, stopAt: options.stopAt });
    for (const attached of readAttached(document, part)) text.addParagraph(attached);
  });
  return { ...document.readProperties(), ...output };
}

/** Creates the reader of workbooks inside a document. It returns plain text, because Markdown would be escaped there. */
export function workbookReader(options: ReadOptions): (bytes: Uint8Array) => string {
  return (bytes) => readXlsx(bytes, { ...options, mode: 'text' }).text;
}

/** Max UTF-16 units of all shared strings together, and max number of them. */
const sharedUnitsMax = 24_000_000;
const sharedStringsMax = 2_000_000;

function sheetsOf(
  document: OoxmlPackage,
  relations: ReturnType<OoxmlPackage['relationsOf']>,
): { sheets: { name: string; part: string }[]; startsIn1904: boolean } {
  const targets = new Map(relations.map(({ id, target }) => [id, target]));
  const sheets: { name: string; part: string }[] = [];
  let startsIn1904 = false;
  document.walk(document.main, {
    open(name, attributes) {
      if (name === 'workbookPr') startsIn1904 = ['1', 'true'].includes(attributes['date1904'] ?? '');
      if (name !== 'sheet') return;
      const part = targets.get(prefixedAttribute(attributes, 'id') ?? '');
      if (part !== undefined) sheets.push({ name: attributes['name'] ?? '', part });
    },
  });
  return { sheets, startsIn1904 };
}

/** Reads the shared strings. Skips `rPh`: it repeats Japanese words in phonetic script. */
function readSharedStrings(document: OoxmlPackage, part: string | undefined): string[] {
  const strings: string[] = [];
  let current = '';
  let inText = false;
  let isPhonetic = false;
  let units = 0;
  document.walk(part, {
    open(name) {
      if (name === 'si') current = '';
      else if (name === 'rPh') isPhonetic = true;
      else if (name === 't') inText = !isPhonetic;
    },
    close(name) {
      if (name === 't') inText = false;
      else if (name === 'rPh') isPhonetic = false;
      else if (name === 'si') {
        strings.push(current);
        units += current.length;
        if (units > sharedUnitsMax || strings.length > sharedStringsMax) {
          const message = 'This workbook has too much text. Split it, or save its sheets as CSV.';
          throw new CarrelError('extraction_too_complex', message);
        }
      }
    },
    text(text) {
      if (inText) current += text;
    },
  });
  return strings;
}

interface SheetContext {
  sharedStrings: readonly string[];
  formatNumber: FormatNumber;
  text: SheetText;
  stopAt: number;
}

/** Reads the rows in file order. Ignores the declared dimension. Rows that the file omits become one empty row. */
function readSheet(
  document: OoxmlPackage,
  part: string,
  { sharedStrings, formatNumber, text, stopAt }: SheetContext,
): void {
  let row: string[] = [];
  let lastRow = 0;
  let column = 0;
  let cell: { type: string; style: number; value: string } | undefined;
  let inValue = false;
  document.walk(part, {
    open(name, attributes) {
      if (name === 'row') {
        const number = Number(attributes['r'] ?? lastRow + 1);
        if (number > lastRow + 1 && lastRow > 0) text.addRow([]);
        lastRow = number;
        row = [];
        column = 0;
      } else if (name === 'c') {
        column = columnOf(attributes['r']) ?? column + 1;
        cell = { type: attributes['t'] ?? 'n', style: Number(attributes['s'] ?? -1), value: '' };
      } else if (name === 'v' || name === 't') inValue = cell !== undefined;
    },
    close(name) {
      if (name === 'v' || name === 't') inValue = false;
      else if (name === 'row') text.addRow(row);
      else if (name === 'c' && cell) {
        const value = formatCell(cell, sharedStrings, formatNumber);
        if (value !== '' && column <= columnsMax) {
          while (row.length < column - 1) row.push('');
          row[column - 1] = value;
        }
        cell = undefined;
      }
    },
    text(value) {
      if (inValue && cell) cell.value += value;
    },
    isDone: () => text.isFull || cpuMs() > stopAt,
  });
}

function formatCell(
  { type, style, value }: { type: string; style: number; value: string },
  sharedStrings: readonly string[],
  formatNumber: FormatNumber,
): string {
  if (type === 's') return sharedStrings[Number(value)] ?? '';
  if (type === 'b' && value !== '') return value === '1' ? 'TRUE' : 'FALSE';
  return type === 'n' ? formatNumber(value, style) : value;
}

/** Returns the column number of a cell: 55 for `BC12`. */
function columnOf(reference: string | undefined): number | undefined {
  const letters = /^\$?([A-Za-z]{1,3})/.exec(reference ?? '')?.[1];
  if (letters === undefined) return undefined;
  let column = 0;
  for (const letter of letters.toUpperCase()) column = column * 26 + letter.charCodeAt(0) - 64;
  return column;
}
