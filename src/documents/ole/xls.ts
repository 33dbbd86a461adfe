import { needsPassword, type Reading, type ReadOptions } from '../document.ts';
import { columnsMax, printSheets, type SheetText } from '../office/sheet-text.ts';
import { createNumberFormat, type FormatNumber } from '../office/xlsx-numbers.ts';
import { cpuMs } from '../reader-limits.ts';
import { damagedOle, openCompoundFile } from './compound-file.ts';
import { readSummary } from './ole-summary.ts';
import { createTextReader, decodeCharacters, type ReadText, readXlsStrings } from './xls-strings.ts';

interface Workbook {
  readonly sheets: readonly { readonly name: string; readonly at: number }[];
  readonly sharedStrings: readonly string[];
  readonly formatNumber: FormatNumber;
  readonly readText: ReadText;
}

/** The record types that are read ([MS-XLS] 2.3). */
const type = {
  formula: 0x06,
  end: 0x0a,
  date1904: 0x22,
  password: 0x2f,
  continued: 0x3c,
  codePage: 0x42,
  sheet: 0x85,
  manyNumbers: 0xbd,
  richText: 0xd6,
  style: 0xe0,
  sharedTexts: 0xfc,
  sharedText: 0xfd,
  drawnText: 0x1b6,
  number: 0x203,
  text: 0x204,
  boolean: 0x205,
  result: 0x207,
  short: 0x27e,
  format: 0x41e,
  begin: 0x809,
} as const;

/** Reads Excel 95 to 2003 ([MS-XLS]) like xlsx. Comments and text boxes come after the cells of their sheet. */
export function readXls(bytes: Uint8Array, options: ReadOptions): Reading {
  const root = openCompoundFile(bytes);
  const stream = root.read('Workbook') ?? root.read('Book') ?? Buffer.alloc(0);
  const { sheets, ...workbook } = readWorkbook(stream);
  const output = printSheets(sheets, options, ({ at }, text) => readSheet(stream, at, workbook, text, options.stopAt));
  return { ...readSummary(root), ...output };
}

/** Format version of Excel 97, the first with Unicode. */
const excel97 = 0x600;

interface XlsRecord {
  readonly type: number;
  readonly data: Buffer;
}

/** Yields the records of the part that begins at `start`. Omits nested parts, such as charts. */
function* recordsFrom(stream: Buffer, start: number): Generator<XlsRecord> {
  let depth = 0;
  for (let at = start; at + 4 <= stream.length; ) {
    const [kind, length] = [stream.readUInt16LE(at), stream.readUInt16LE(at + 2)];
    const data = stream.subarray(at + 4, at + 4 + length);
    at += 4 + length;
    if (kind === type.begin) depth += 1;
    if (depth === 0) throw damagedOle();
    if (depth === 1) yield { type: kind, data };
    if (kind === type.end) depth -= 1;
    if (depth === 0) return;
  }
}

function readWorkbook(stream: Buffer): Workbook {
  const sheets: { name: string; at: number }[] = [];
  const codes = new Map<number, string>();
  const formats: number[] = [];
  const sharedStringRecords: Buffer[] = [];
  let [isUnicode, codePage, startsIn1904, isSharedStrings] = [true, 1252, false, false];
  let readText = createTextReader(isUnicode, codePage);
  for (const { type: kind, data } of recordsFrom(stream, 0)) {
    isSharedStrings = kind === type.sharedTexts || (isSharedStrings && kind === type.continued);
    if (isSharedStrings) sharedStringRecords.push(data);
    else if (kind === type.begin) isUnicode = data.readUInt16LE(0) >= excel97;
    else if (kind === type.codePage) codePage = data.readUInt16LE(0);
    else if (kind === type.password) throw needsPassword();
    else if (kind === type.date1904) startsIn1904 = data.readUInt16LE(0) === 1;
    else if (kind === type.format) codes.set(data.readUInt16LE(0), readText(data, 2, isUnicode ? 2 : 1));
    else if (kind === type.style) formats.push(data.readUInt16LE(2));
    // 0: a sheet of cells. Other values are charts and macros.
    else if (kind === type.sheet && data.readUInt8(5) === 0) {
      sheets.push({ name: readText(data, 6, 1), at: data.readUInt32LE(0) });
    }
    if (kind === type.begin || kind === type.codePage) readText = createTextReader(isUnicode, codePage);
  }
  return {
    sheets,
    sharedStrings: readXlsStrings(sharedStringRecords),
    formatNumber: createNumberFormat(formats, codes, startsIn1904),
    readText,
  };
}

/** Reads the cells in file order, which is row by row. */
function readSheet(
  stream: Buffer,
  at: number,
  { sharedStrings, formatNumber, readText }: Omit<Workbook, 'sheets'>,
  text: SheetText,
  stopAt: number,
): void {
  let row: string[] = [];
  let currentRow = -1;
  let steps = 0;
  /** The formula cell whose result is a text, which comes in the next record. */
  let pendingFormula: { row: number; column: number } | undefined;
  /** Characters of the current comment or text box still to read. A long one spans several records. */
  let charsLeft = 0;
  const notes: string[] = [];
  const endRow = (next: number) => {
    if (currentRow >= 0) text.addRow(row);
    if (currentRow >= 0 && next > currentRow + 1) text.addRow([]);
    row = [];
    currentRow = next;
  };
  const setCell = (rowAt: number, column: number, value: string) => {
    if (rowAt !== currentRow) endRow(rowAt);
    if (value === '' || column >= columnsMax) return;
    while (row.length < column) row.push('');
    row[column] = value;
  };
  for (const { type: kind, data } of recordsFrom(stream, at)) {
    steps += 1;
    if (text.isFull || (steps % 8192 === 0 && cpuMs() > stopAt)) break;
    if (kind === type.drawnText && data.length >= 12) {
      charsLeft = data.readUInt16LE(10);
      notes.push('');
      continue;
    }
    if (kind === type.continued && charsLeft > 0 && data.length > 1) {
      const part = decodeCharacters(data, 1, charsLeft, (data.readUInt8(0) & 1) !== 0);
      notes.push(`${notes.pop() ?? ''}${part}`);
      charsLeft -= part.length;
      continue;
    }
    charsLeft = 0;
    if (kind === type.result && pendingFormula)
      setCell(pendingFormula.row, pendingFormula.column, readText(data, 0, 2));
    if (data.length < 6) continue;
    const [rowAt, column, style] = [data.readUInt16LE(0), data.readUInt16LE(2), data.readUInt16LE(4)];
    const setNumber = (value: number) => setCell(rowAt, column, formatNumber(String(value), style));
    if (kind === type.sharedText) setCell(rowAt, column, sharedStrings[data.readUInt32LE(6)] ?? '');
    else if (kind === type.number) setNumber(data.readDoubleLE(6));
    else if (kind === type.short) setNumber(shortNumber(data.readUInt32LE(6)));
    else if (kind === type.text || kind === type.richText) setCell(rowAt, column, readText(data, 6, 2));
    else if (kind === type.boolean)
      setCell(rowAt, column, data.readUInt8(7) === 0 ? formatBoolean(data.readUInt8(6)) : errorText(data.readUInt8(6)));
    else if (kind === type.manyNumbers) {
      for (let index = 0; 4 + index * 6 + 6 <= data.length - 2; index += 1) {
        const value = shortNumber(data.readUInt32LE(6 + index * 6));
        setCell(rowAt, column + index, formatNumber(String(value), data.readUInt16LE(4 + index * 6)));
      }
    } else if (kind === type.formula) {
      pendingFormula = undefined;
      if (data.readUInt16LE(12) !== 0xffff) setNumber(data.readDoubleLE(6));
      else if (data.readUInt8(6) === 0) pendingFormula = { row: rowAt, column };
      else if (data.readUInt8(6) === 1) setCell(rowAt, column, formatBoolean(data.readUInt8(8)));
      else if (data.readUInt8(6) === 2) setCell(rowAt, column, errorText(data.readUInt8(8)));
    }
  }
  endRow(currentRow);
  for (const note of notes) if (note.trim() !== '') text.addParagraph(note.trim());
}

/** Decodes a number of 30 bits: an integer, or the upper part of a double. If bit 0 is set, divides it by 100. */
function shortNumber(packed: number): number {
  const double = Buffer.alloc(8);
  double.writeUInt32LE((packed & ~3) >>> 0, 4);
  const value = (packed & 2) !== 0 ? packed >> 2 : double.readDoubleLE(0);
  return (packed & 1) !== 0 ? value / 100 : value;
}

function formatBoolean(value: number): string {
  return value === 1 ? 'TRUE' : 'FALSE';
}

const errorTexts = new Map([
  [0x00, '#NULL!'],
  [0x07, '#DIV/0!'],
  [0x0f, '#VALUE!'],
  [0x17, '#REF!'],
  [0x1d, '#NAME?'],
  [0x24, '#NUM!'],
  [0x2a, '#N/A'],
]);

function errorText(code: number): string {
  return errorTexts.get(code) ?? '#N/A';
}
