import { type Chunk, chunkUnitsMax, type Span } from './chunk.ts';
import { forcedPieces } from './sentences.ts';

const headerUnitsMax = 300;
/** Max length of a row with quoted cells. A longer row has a stray quote, so from there on quotes are ignored. */
const quotedUnitsMax = 20_000;

/** Chunks CSV between rows (RFC 4180: quoted cells may have line breaks). Each chunk's path is the column names. */
export function chunkRows(text: string, unitsMax = chunkUnitsMax): Chunk[] {
  const rows = rowsOf(text);
  const [header] = rows;
  const titlePath = header ? [text.slice(header.start, Math.min(header.end, header.start + headerUnitsMax))] : [];
  const chunks: Chunk[] = [];
  let open: Span | undefined;
  const close = () => {
    if (open) chunks.push({ ...open, text: text.slice(open.start, open.end), titlePath });
    open = undefined;
  };
  for (const row of rows) {
    for (const piece of row.end - row.start > unitsMax ? forcedPieces(text, row, unitsMax) : [row]) {
      if (open && piece.end - open.start > unitsMax) close();
      open = { start: open?.start ?? piece.start, end: piece.end };
    }
  }
  close();
  return chunks;
}

function rowsOf(text: string): Span[] {
  const rows: Span[] = [];
  const quotes = createQuotes(text);
  let respectsQuotes = true;
  for (let start = 0; start < text.length; ) {
    let end = lineEnd(text, start);
    if (respectsQuotes) {
      const quoted = quotedEnd(text, start, end, quotes);
      if (quoted === undefined) respectsQuotes = false;
      else end = quoted;
    }
    const row = text.slice(start, end);
    const from = start + row.length - row.trimStart().length;
    if (row.trim() !== '') rows.push({ start: from, end: from + row.trim().length });
    start = end + 1;
  }
  return rows;
}

/** Returns the end of the first line after which no quoted cell is open; undefined if a cell is never closed. */
function quotedEnd(text: string, start: number, firstEnd: number, quotes: Quotes): number | undefined {
  let end = firstEnd;
  let isOpen = false;
  for (;;) {
    while (quotes.consumeBefore(end)) isOpen = !isOpen;
    if (!isOpen) return end;
    if (end >= text.length || end - start > quotedUnitsMax) return undefined;
    end = lineEnd(text, end + 1);
  }
}

type Quotes = ReturnType<typeof createQuotes>;

/** Reads quotation marks in order, so that a long text is scanned only once. */
function createQuotes(text: string) {
  let next = text.indexOf('"');
  return {
    /** Consumes the next quotation mark if it is before `end`. */
    consumeBefore(end: number): boolean {
      if (next === -1 || next >= end) return false;
      next = text.indexOf('"', next + 1);
      return true;
    },
  };
}

function lineEnd(text: string, from: number): number {
  const newline = text.indexOf('\n', from);
  return newline === -1 ? text.length : newline;
}
