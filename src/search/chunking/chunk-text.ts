import { type Block, blocksOf } from './blocks.ts';
import { type Chunk, chunkUnitsMax, type Span } from './chunk.ts';
import { forcedPieces, sentencesOf } from './sentences.ts';

/** Max characters of a table's header that are repeated in the paths of its chunks. */
const columnsUnitsMax = 300;

/**
 * Chunks prose. Headings stay with their text, code and tables stay whole if they fit, and long paragraphs are split between
 * sentences. Chunks do not overlap and cover the whole text, except white space.
 */
export function chunkText(text: string, unitsMax = chunkUnitsMax): Chunk[] {
  const chunks: Chunk[] = [];
  const path: { level: number; title: string }[] = [];
  let open: (Span & { hasText: boolean; titlePath: string[] }) | undefined;

  const close = () => {
    if (open) {
      const { start, end, titlePath } = open;
      chunks.push({ start, end, text: text.slice(start, end), titlePath });
    }
    open = undefined;
  };
  for (const block of blocksOf(text)) {
    if (block.kind === 'heading') {
      // Consecutive headings (a title, then its first section) start one chunk together.
      if (open?.hasText) close();
      while (path.length > 0 && (path.at(-1)?.level ?? 0) >= block.level) path.pop();
      path.push({ level: block.level, title: block.title.slice(0, titleUnitsMax).toWellFormed() });
    }
    for (const piece of piecesOf(text, block, unitsMax)) {
      if (open && piece.end - open.start > unitsMax) close();
      open ??= { start: piece.start, end: piece.end, hasText: false, titlePath: [] };
      open.end = piece.end;
      open.hasText ||= block.kind !== 'heading';
      open.titlePath = path.map(({ title }) => title);
      // Rows of a split table need the header to name their columns.
      if (block.kind === 'table' && open.start > block.start) open.titlePath.push(columnsOf(text, block));
    }
  }
  close();
  return chunks;
}

/** Max characters of a heading in a path: a long line mistaken for a heading would be copied into every chunk below it. */
const titleUnitsMax = 300;

/** Returns the first row of a table, for the paths of its later chunks. */
function columnsOf(text: string, { start, end }: Span): string {
  const row = text.slice(start, Math.min(end, start + columnsUnitsMax)).split('\n', 1)[0] ?? '';
  return row.replace(/^\s*\|\s*|\s*\|\s*$/g, '');
}

/** Splits a block that is longer than a chunk between sentences or lines, depending on its kind. */
function piecesOf(text: string, block: Block, unitsMax: number): Span[] {
  if (block.end - block.start <= unitsMax) return [block];
  const parts = block.kind === 'prose' ? sentencesOf(text, block) : linesOf(text, block);
  return parts.flatMap((piece) =>
    piece.end - piece.start <= unitsMax ? [piece] : forcedPieces(text, piece, unitsMax),
  );
}

function linesOf(text: string, { start, end }: Span): Span[] {
  const lines: Span[] = [];
  for (let at = start; at < end; ) {
    const newline = text.indexOf('\n', at);
    const lineEnd = newline === -1 || newline >= end ? end : newline;
    const last = lines.at(-1);
    // A line without letters or digits, such as a closing bracket or fence, stays with the previous line.
    if (last && !/[\p{L}\p{N}]/u.test(text.slice(at, lineEnd))) last.end = lineEnd;
    else if (text.slice(at, lineEnd).trim() !== '') lines.push({ start: at, end: lineEnd });
    at = lineEnd + 1;
  }
  return lines;
}
