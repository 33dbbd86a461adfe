import type { WordQuery } from '../../words/word-query.ts';

/**
 * Renders a query in FTS5's own language. Every term is quoted, and terms hold letters, digits and three signs only, so
 * nothing that a caller wrote is read as an operator. Undefined when the query can find nothing.
 */
export function renderMatch(query: WordQuery): string | undefined {
  return query.kind === 'nothing' ? undefined : render(query);
}

function render(query: Exclude<WordQuery, { kind: 'nothing' }>): string {
  switch (query.kind) {
    case 'term':
      return quoted(query.term);
    case 'prefix':
      return `${quoted(query.prefix)} *`;
    case 'phrase':
      // Side by side in the text, not in the list of further names.
      return `{title heading body} : ${quoted(query.terms.join(' '))}${query.open ? ' *' : ''}`;
    case 'except':
      return `(${renderPart(query.keep)}) NOT (${renderPart(query.drop)})`;
    case 'and':
      return query.parts.map((part) => `(${renderPart(part)})`).join(' AND ');
    case 'or':
      return query.parts.map((part) => `(${renderPart(part)})`).join(' OR ');
  }
}

function renderPart(query: WordQuery): string {
  // Cannot occur inside: the constructors of queries take it out.
  return query.kind === 'nothing' ? '""' : render(query);
}

function quoted(terms: string): string {
  return `"${terms.replaceAll('"', '""')}"`;
}
