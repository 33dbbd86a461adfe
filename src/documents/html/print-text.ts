import { collapseLines } from '../text/clean-text.ts';
import type { Block, Container, Span } from './blocks.ts';

/** Prints the blocks as plain text: a blank line between blocks, a line per list item and table row, code as written. */
export function printText(blocks: Block[]): string {
  const parts: string[] = [];
  const started = new Set<Container>();
  let before: Block | null = null;
  for (const block of blocks) {
    const text = textOfBlock(block);
    if (text === '') continue;
    const indent = '  '.repeat(Math.max(0, itemDepth(block.inside) - 1));
    const mark = markOf(block.inside, started);
    const isTight = before !== null && mark !== '' && itemDepth(before.inside) > 0 && block.kind !== 'code';
    if (before) parts.push(isTight ? '\n' : '\n\n');
    parts.push(indented(text, indent + mark, indent + ' '.repeat(mark.length)));
    before = block;
  }
  return collapseLines(parts.join(''));
}

function textOfBlock(block: Block): string {
  switch (block.kind) {
    case 'code':
      return block.text;
    case 'rule':
      return '';
    case 'table':
      return block.rows.map((row) => row.map((cell) => lineOf(cell.spans)).join(' | ')).join('\n');
    default:
      return paragraphOf(block.spans);
  }
}

/** Prints spans. Omits image descriptions: only in Markdown can readers tell them from the text. */
function paragraphOf(spans: Span[]): string {
  const text = spans.map((span) => (span.image ? '' : span.text)).join('');
  return text
    .split('\n')
    .map((line) => line.replace(/[ \u00a0]{2,}|\u00a0/g, ' ').trim())
    .join('\n')
    .trim();
}

function lineOf(spans: Span[]): string {
  return paragraphOf(spans).replaceAll('\n', ' ');
}

function itemDepth(inside: Container | null): number {
  let depth = 0;
  for (let at = inside; at; at = at.parent) if (at.kind === 'item') depth += 1;
  return depth;
}

/** Returns the bullet or number for the first block of a list item, and an empty string for the others. */
function markOf(inside: Container | null, started: Set<Container>): string {
  if (inside?.kind !== 'item' || started.has(inside)) return '';
  started.add(inside);
  return inside.number === null ? '- ' : `${inside.number}. `;
}

function indented(text: string, first: string, continuation: string): string {
  if (first === '') return text;
  return first + text.replaceAll('\n', `\n${continuation}`);
}
