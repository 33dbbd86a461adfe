import { type Block, blocksOf } from './blocks.ts';
import { type Chunk, type ChunkingOptions, chunkUnits, type Span } from './chunk.ts';
import { forcedPieces, sentencesOf } from './sentences.ts';

/** How much of a table's header is repeated in the paths of its chunks. */
const columnsUnitsMax = 300;

/**
 * Headings stay with their text, code and tables stay whole if they fit, paragraphs are split between sentences. Chunks do not
 * overlap, and everything but the white space between them is in exactly one.
 */
export function chunkText(text: string, options: ChunkingOptions = {}): Chunk[] {
  const unitsMax = chunkUnits(options);
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

/** Every chunk below a heading carries it: without a limit, a long line mistaken for a heading would be copied a thousand times. */
const titleUnitsMax = 300;

/** The first row of a table, for the chunks after it. */
function columnsOf(text: string, { start, end }: Span): string {
  const row = text.slice(start, Math.min(end, start + columnsUnitsMax)).split('\n', 1)[0] ?? '';
  return row.replace(/^\s*\|\s*|\s*\|\s*$/g, '');
}

/** A block that fits is one piece. A longer one is split between sentences or lines, depending on its kind. */
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
    // Closing brackets and fences mean nothing alone and stay with the previous line.
    if (last && !/[\p{L}\p{N}]/u.test(text.slice(at, lineEnd))) last.end = lineEnd;
    else if (text.slice(at, lineEnd).trim() !== '') lines.push({ start: at, end: lineEnd });
    at = lineEnd + 1;
  }
  return lines;
}
