import { read } from '../console-tools.ts';
import { type Html, html } from '../html.ts';
import { badge, number } from '../parts/parts.ts';

/** Marks a document or job whose passages are not all embedded yet. Keyword search already finds them. */
export function indexing(from: Record<string, unknown>): Html {
  const pending = read.number(from, 'pending') ?? 0;
  const total = read.number(from, 'chunks') ?? read.number(from, 'chunk_count') ?? 0;
  if (pending === 0) return html``;
  const label = total >= pending ? `Indexing ${number(total - pending)} of ${number(total)}` : 'Indexing';
  return html`<span title="Keyword search already works">${badge(label, 'neutral', 'circle-dashed')}</span>`;
}

const reasons: Record<string, string> = { cpu_time: 'it took too long to read', characters: 'it is too long' };

/** Marks a document that was only partly read. */
export function partlyRead(from: Record<string, unknown>): Html {
  const { reason, read: count, of } = read.object(from, 'truncated');
  if (typeof reason !== 'string') return html``;
  const why = reasons[reason] ?? reason.replaceAll('_', ' ');
  const amount = typeof count === 'number' && typeof of === 'number' ? `: ${number(count)} of ${number(of)}` : '';
  return html`<span title="Not all of it was read, because ${why}">${badge(`Partly read${amount}`, 'warn', 'triangle-alert')}</span>`;
}
