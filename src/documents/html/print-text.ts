import { collapseLines } from '../text/clean-text.ts';
import type { Block, Container, Span } from './blocks.ts';

/** Prints the blocks as plain text: a blank line between blocks, a line per list item and table row, code as written. */
export function printText(blocks: Block[]): string {
  const parts: string[] = [];
  const startedItems = new Set<Container>();
  let previous: Block | null = null;
  for (const block of blocks) {
    const text = textOfBlock(block);
    if (text === '') continue;
    const indent = '  '.repeat(Math.max(0, itemDepth(block.container) - 1));
    const marker = markerOf(block.container, startedItems);
    const isTight = previous !== null && marker !== '' && itemDepth(previous.container) > 0 && block.kind !== 'code';
    if (previous) parts.push(isTight ? '\n' : '\n\n');
    parts.push(indentLines(text, indent + marker, indent + ' '.repeat(marker.length)));
    previous = block;
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

function itemDepth(container: Container | null): number {
  let depth = 0;
  for (let at = container; at; at = at.parent) if (at.kind === 'item') depth += 1;
  return depth;
}

/** Returns the bullet or number for the first block of a list item, and an empty string for the others. */
function markerOf(container: Container | null, startedItems: Set<Container>): string {
  if (container?.kind !== 'item' || startedItems.has(container)) return '';
  startedItems.add(container);
  return container.number === null ? '- ' : `${container.number}. `;
}

function indentLines(text: string, first: string, continuation: string): string {
  if (first === '') return text;
  return first + text.replaceAll('\n', `\n${continuation}`);
}
