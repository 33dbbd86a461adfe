import { collapseLines } from '../text/clean-text.ts';
import type { Block, Cell, Container, Span } from './blocks.ts';
import { escapeInline, escapeLineStart, fenceFor, inlineCode } from './markdown-escape.ts';

/** Prints the blocks as GitHub-flavoured Markdown. */
export function printMarkdown(blocks: Block[]): string {
  const parts: string[] = [];
  const startedItems = new Set<Container>();
  let previous: Block | null = null;
  for (const block of blocks) {
    const text = textOfBlock(block);
    if (text === '') continue;
    const { first, continuation, isNewItem } = prefixOf(block.container, startedItems);
    const isTight = isNewItem && previous?.container?.kind === 'item' && block.kind === 'paragraph';
    const isSameContainer = previous !== null && previous.container === block.container && block.container !== null;
    const gap = isSameContainer ? `\n${continuation.trimEnd()}\n` : '\n\n';
    if (previous) parts.push(isTight ? '\n' : gap);
    parts.push(first + text.replaceAll('\n', `\n${continuation}`));
    previous = block;
  }
  return collapseLines(parts.join(''));
}

function textOfBlock(block: Block): string {
  switch (block.kind) {
    case 'heading': {
      const text = formatSpans(block.spans, ' ');
      return text === '' ? '' : `${'#'.repeat(block.level)} ${text}`;
    }
    case 'code': {
      const fence = fenceFor(block.text);
      return `${fence}${block.language ?? ''}\n${block.text}\n${fence}`;
    }
    case 'rule':
      return '---';
    case 'table':
      return formatTable(block.rows, block.hasHeader);
    case 'term': {
      const text = formatSpans(
        block.spans.map((span) => ({ ...span, bold: false })),
        ' ',
      );
      return text === '' ? '' : `**${text}**`;
    }
    case 'paragraph':
      return formatSpans(block.spans, '  \n').split('\n').map(escapeLineStart).join('\n');
  }
}

/** Returns the prefixes of a block's first and other lines: `> ` per quote, the marker or an equal indent per list item. */
function prefixOf(
  container: Container | null,
  startedItems: Set<Container>,
): { first: string; continuation: string; isNewItem: boolean } {
  let first = '';
  let continuation = '';
  let isNewItem = false;
  for (let at = container; at; at = at.parent) {
    const itemMarker = at.number === null ? '- ' : `${at.number}. `;
    const marker = at.kind === 'quote' ? '> ' : itemMarker;
    const indent = at.kind === 'quote' ? '> ' : ' '.repeat(marker.length);
    const isNew = at.kind === 'item' && !startedItems.has(at);
    isNewItem ||= isNew;
    first = (isNew || at.kind === 'quote' ? marker : indent) + first;
    continuation = indent + continuation;
    startedItems.add(at);
  }
  return { first, continuation, isNewItem };
}

/** Prints a table. GFM requires a header row, so a table without one gets an empty header. */
function formatTable(rows: Cell[][], hasHeader: boolean): string {
  const width = rows.reduce((most, row) => Math.max(most, row.length), 0);
  const lines = rows.map((row) => formatRow(row, width));
  const head = hasHeader ? (lines.shift() ?? '') : `|${'  |'.repeat(width)}`;
  return [head, `|${' --- |'.repeat(width)}`, ...lines].join('\n');
}

function formatRow(row: Cell[], width: number): string {
  const cells = row.map((cell) => formatSpans(cell.spans, ' ').replaceAll('|', '\\|'));
  while (cells.length < width) cells.push('');
  return `| ${cells.join(' | ')} |`;
}

/** Prints spans. Merges adjacent spans of the same style, so that `<b>a</b><b>b</b>` does not become `**a****b**`. */
function formatSpans(spans: Span[], lineBreak: string): string {
  const runs: Span[] = [];
  for (const span of spans) {
    const last = runs.at(-1);
    if (last && !last.image && !span.image && hasSameStyle(last, span)) last.text += span.text;
    else runs.push({ ...span });
  }
  const text = runs.map((run, index) => formatRun(run, runs[index - 1], runs[index + 1])).join('');
  return text
    .split('\n')
    .map((line) => line.replace(/[ \u00a0]{2,}|\u00a0/g, ' ').trim())
    .join('\n')
    .trim()
    .replaceAll('\n', lineBreak);
}

const styles = ['bold', 'italic', 'code', 'struck', 'href'] as const;

function hasSameStyle(left: Span, right: Span): boolean {
  return styles.every((style) => left[style] === right[style]);
}

/** Prints a span. Puts style markers next to the words, not next to spaces, because `** word **` is not bold in Markdown. */
function formatRun(run: Span, previous: Span | undefined, next: Span | undefined): string {
  const core = run.text.trim();
  if (run.image) return linkText(`![${escapeInline(core)}](${escapeAddress(run.image)})`, run, previous, next);
  if (core === '') return collapseSpace(run.text);
  const leading = collapseSpace(run.text.slice(0, run.text.length - run.text.trimStart().length));
  const trailing = collapseSpace(run.text.slice(run.text.trimEnd().length));
  let text = run.code ? inlineCode(core) : escapeInline(core);
  if (run.struck) text = `~~${text}~~`;
  if (run.italic) text = `*${text}*`;
  if (run.bold) text = `**${text}**`;
  return leading + linkText(text, run, previous, next) + trailing;
}

/** Adds the brackets of a link. Neighbouring spans with the same address become one link. */
function linkText(text: string, run: Span, previous: Span | undefined, next: Span | undefined): string {
  if (!run.href) return text;
  const opens = previous?.href !== run.href ? '[' : '';
  const closes = next?.href !== run.href ? `](${escapeAddress(run.href)})` : '';
  return opens + text + closes;
}

function escapeAddress(address: string): string {
  return address.replaceAll('(', '%28').replaceAll(')', '%29').replaceAll(' ', '%20').replaceAll('<', '%3C');
}

function collapseSpace(space: string): string {
  if (space === '') return '';
  return space.includes('\n') ? '\n' : ' ';
}
