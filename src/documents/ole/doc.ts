import { needsPassword, type Reading, type ReadOptions } from '../document.ts';
import { createFlow, createListItems, type Flow } from '../office/flow.ts';
import { cpuMs } from '../reader-limits.ts';
import { damagedOle, openCompoundFile } from './compound-file.ts';
import { type DocParagraph, readDocParagraphs } from './doc-paragraphs.ts';
import { readSummary } from './ole-summary.ts';

/** A piece of the text: its position in the stream, its length and encoding. */
interface Piece {
  readonly at: number;
  readonly characters: number;
  readonly isWide: boolean;
}

/** Format version of Word 97, the first with Unicode. */
const word97 = 0xc1;
/** Indexes of the parts that list text pieces and paragraph properties ([MS-DOC] 2.5.6 FibRgFcLcb97). */
const [piecesPart, paragraphsPart] = [33, 13];

/** Reads Word 6 to 2003 ([MS-DOC]): headings, paragraphs, lists, tables; then footnotes, comments, endnotes, text boxes. */
export function readDoc(bytes: Uint8Array, options: ReadOptions): Reading {
  const root = openCompoundFile(bytes);
  const document = root.read('WordDocument') ?? Buffer.alloc(0);
  const flags = document.readUInt16LE(10);
  if ((flags & 0x0100) !== 0) throw needsPassword();
  const properties = readSummary(root);
  const flow = createFlow(options.mode, options.charsMax);
  if (document.readUInt16LE(2) < word97) {
    const pieces = [wholePiece(document)];
    readText(flow, { document, pieces, stories: [Number.MAX_SAFE_INTEGER], encoding: oldEncoding(document) }, options);
  } else {
    const tables = root.read((flags & 0x0200) !== 0 ? '1Table' : '0Table');
    if (tables === undefined) throw damagedOle();
    const part = (index: number) => {
      const [start, length] = [document.readUInt32LE(0x9a + index * 8), document.readUInt32LE(0x9e + index * 8)];
      return tables.subarray(start, start + length);
    };
    const [pieces, paragraphAt] = [readPieces(part(piecesPart)), readDocParagraphs(document, part(paragraphsPart))];
    readText(
      flow,
      { document, pieces, stories: storyLengths(document), encoding: 'windows-1252', paragraphAt },
      options,
    );
  }
  const output = flow.finish();
  return {
    ...properties,
    title: properties.title ?? flow.topHeading,
    ...output,
    truncated: output.truncated === true || cpuMs() > options.stopAt,
  };
}

/** Returns the lengths of main text, footnotes, headers, macros, comments, endnotes, text boxes, text boxes in headers. */
function storyLengths(document: Buffer): number[] {
  return Array.from({ length: 8 }, (_, index) => document.readUInt32LE(0x4c + index * 4));
}
/** Indexes of the parts to read. Headers and footers repeat on each page; macros are not text. */
const readStories = new Set([0, 1, 4, 5, 6]);

/** Returns the whole text of Word 6 and 95 as one piece. After a "fast save", it is in the order of the edits. */
function wholePiece(document: Buffer): Piece {
  const [start, end] = [document.readUInt32LE(0x18), document.readUInt32LE(0x1c)];
  if (end < start || start > document.length) throw damagedOle();
  return { at: start, characters: end - start, isWide: false };
}

/** Returns the encoding of Word 6 and 95: Macintosh, or that of the program's language. */
function oldEncoding(document: Buffer): string {
  if (document.readUInt16LE(0x14) === 256) return 'macintosh';
  return encodingsOfLanguages.get(document.readUInt8(6)) ?? 'windows-1252';
}

/** Single-byte encodings by the low byte of the language id. */
const encodingsOfLanguages = new Map(
  Object.entries({
    'windows-1250': [0x05, 0x0e, 0x15, 0x18, 0x1b, 0x24],
    'windows-1251': [0x02, 0x19, 0x22, 0x23],
    'windows-1253': [0x08],
    'windows-1254': [0x1f],
    'windows-1255': [0x0d],
    'windows-1256': [0x01, 0x29],
    'windows-1257': [0x25, 0x26, 0x27],
  }).flatMap(([encoding, ids]) => ids.map((id): [number, string] => [id, encoding])),
);

/** Reads the list of text pieces, which follows other properties ([MS-DOC] 2.9.38 Clx). Each edit may add pieces. */
function readPieces(list: Buffer): Piece[] {
  let at = 0;
  while (list.readUInt8(at) === 1) at += 3 + list.readUInt16LE(at + 1);
  if (list.readUInt8(at) !== 2) throw damagedOle();
  const pieces = list.subarray(at + 5, at + 5 + list.readUInt32LE(at + 1));
  const count = Math.floor((pieces.length - 4) / 12);
  return Array.from({ length: Math.max(0, count) }, (_, index) => {
    const position = pieces.readUInt32LE((count + 1) * 4 + index * 8 + 2);
    const isWide = (position & 0x4000_0000) === 0;
    return {
      at: isWide ? position : (position & 0x3fff_ffff) >> 1,
      characters: Math.max(0, pieces.readUInt32LE((index + 1) * 4) - pieces.readUInt32LE(index * 4)),
      isWide,
    };
  });
}

interface Text {
  readonly document: Buffer;
  readonly pieces: readonly Piece[];
  /** Number of characters in each part ("story"). */
  readonly stories: readonly number[];
  /** Encoding of single-byte pieces. */
  readonly encoding: string;
  readonly paragraphAt?: (at: number) => DocParagraph;
}

function readText(
  flow: Flow,
  { document, pieces, stories, encoding, paragraphAt }: Text,
  { stopAt, charsMax }: ReadOptions,
): void {
  const body = createBody(flow);
  const decoder = new TextDecoder(encoding);
  let story = 0;
  let charsLeft = stories[0] ?? 0;
  let steps = 0;
  for (const { at, characters, isWide } of pieces) {
    const width = isWide ? 2 : 1;
    const encoded = document.subarray(at, at + characters * width);
    const text = isWide ? encoded.toString('utf16le') : decoder.decode(encoded);
    for (let index = 0; index < text.length; index += 1) {
      while (charsLeft === 0 && story < stories.length) {
        body.endParagraph();
        story += 1;
        charsLeft = stories[story] ?? 0;
      }
      charsLeft -= 1;
      steps += 1;
      if (flow.isFull || (steps % 65_536 === 0 && (cpuMs() > stopAt || body.lineLength > charsMax))) {
        body.finish();
        return;
      }
      if (readStories.has(story)) body.add(text[index] ?? '', () => paragraphAt?.(at + index * width));
    }
  }
  body.finish();
}

/** Collects text up to its paragraph mark, at which the paragraph's properties are known. */
function createBody(flow: Flow) {
  let line = '';
  let isTableOpen = false;
  let [isRowOpen, isCellOpen] = [false, false];
  /** For each open field: true once its result has started. The text before it is the field's instruction. */
  const fields: boolean[] = [];
  /** How many open fields are still in their instruction. */
  let openInstructions = 0;
  const items = createListItems();

  const closeTable = () => {
    if (isTableOpen) flow.closeTable();
    [isTableOpen, isRowOpen, isCellOpen] = [false, false, false];
  };
  const addToTable = (mark: string, endsRow: boolean) => {
    if (!isTableOpen) flow.openTable();
    isTableOpen = true;
    if (endsRow && line.trim() === '') {
      isRowOpen = false;
      line = '';
      return;
    }
    if (!isRowOpen) flow.openRow();
    if (!isCellOpen) flow.openCell();
    [isRowOpen, isCellOpen] = [true, true];
    flow.addText(line);
    line = '';
    flow.endParagraph();
    if (mark !== cellMark) return;
    flow.closeCell();
    [isRowOpen, isCellOpen] = [!endsRow, false];
  };
  const endParagraph = (mark = '\r', paragraph?: DocParagraph) => {
    if (paragraph?.isInTable === true || paragraph?.endsRow === true) return addToTable(mark, paragraph.endsRow);
    closeTable();
    flow.addText(line);
    line = '';
    const { heading = 0, listLevel = null } = paragraph ?? {};
    if (heading > 0) flow.endParagraph({ heading });
    else flow.endParagraph({ container: listLevel === null ? items.endList() : items.add(listLevel, null) });
  };
  return {
    add(character: string, paragraph: () => DocParagraph | undefined): void {
      if (character === fieldStart) {
        fields.push(false);
        openInstructions += 1;
      } else if (character === fieldMiddle) {
        if (fields.at(-1) === false) openInstructions -= 1;
        if (fields.length > 0) fields[fields.length - 1] = true;
      } else if (character === fieldEnd) {
        if (fields.pop() === false) openInstructions -= 1;
      } else if (character === '\r' || character === cellMark || character === '\f')
        endParagraph(character, paragraph());
      else if (openInstructions === 0) line += controlText.get(character) ?? (character < ' ' ? '' : character);
    },
    /** Length of the collected text. The caller limits it, because pieces may repeat text without ending the paragraph. */
    get lineLength() {
      return line.length;
    },
    endParagraph: () => endParagraph(),
    finish(): void {
      endParagraph();
      closeTable();
    },
  };
}

const cellMark = '\x07';
const [fieldStart, fieldMiddle, fieldEnd] = ['\x13', '\x14', '\x15'];
/** Text for the tab, line break and non-breaking hyphen. Other control characters are omitted. */
const controlText = new Map([
  ['\t', ' '],
  ['\v', '\n'],
  ['\x1e', '-'],
]);
