import { collapseLines } from '../text/clean-text.ts';
import type { Block, Container, Span } from './blocks.ts';

/** Readable text: a blank line between blocks, list items and table rows on their own lines, code as written. */
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

/** Image descriptions are printed in Markdown only, where they are recognisable. */
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

/** The bullet or number, on the first block of an item only. */
function markOf(inside: Container | null, started: Set<Container>): string {
  if (inside?.kind !== 'item' || started.has(inside)) return '';
  started.add(inside);
  return inside.number === null ? '- ' : `${inside.number}. `;
}

function indented(text: string, first: string, others: string): string {
  if (first === '') return text;
  return first + text.replaceAll('\n', `\n${others}`);
}
