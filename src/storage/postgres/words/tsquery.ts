import type { WordLeaf, WordQuery } from '../../../words/word-query.ts';
import type { SqlFragment } from '../../rows.ts';

/** Prefix that marks a lexeme as a label. Terms contain no spaces. */
export const labelMark = ' ';

export function quoted(lexeme: string): string {
  return `'${lexeme.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

/** Returns a query in tsquery form. It may match more: for a phrase, it only requires that all words occur. */
export function tsquery(query: WordQuery): string {
  switch (query.kind) {
    case 'nothing':
      return '';
    case 'term':
      return quoted(query.term);
    case 'prefix':
      return `${quoted(query.prefix)}:*`;
    case 'fuzzy':
      return query.terms.map(({ term }) => quoted(term)).join(' | ');
    case 'phrase':
      return phraseMembers(query).join(' & ');
    case 'except':
      // Excludes nothing, because a document may contain all words of the phrase but not the phrase itself.
      return hasPhrase(query.drop)
        ? tsquery(query.keep)
        : joined('&', [tsquery(query.keep), `!(${tsquery(query.drop)})`]);
    default:
      return joined(query.kind === 'and' ? '&' : '|', query.parts.map(tsquery));
  }
}

export function joined(operator: '&' | '|', parts: readonly string[]): string {
  return parts.map((part) => `(${part})`).join(` ${operator} `);
}

/** Returns a tsquery for documents with at least one label of each group. No group may be empty. */
export function labelQuery(groups: readonly (readonly string[])[]): string {
  return joined(
    '&',
    groups.map((group) => group.map((label) => quoted(`${labelMark}${label}`)).join(' | ')),
  );
}

export function hasPhrase(query: WordQuery): boolean {
  if (query.kind === 'except') return hasPhrase(query.keep) || hasPhrase(query.drop);
  return 'parts' in query ? query.parts.some(hasPhrase) : query.kind === 'phrase';
}

/** Returns the exact condition for a query with phrases. Searches the stored terms, because a tsvector has no positions beyond 16,383. */
export function exactCondition(query: WordQuery): SqlFragment {
  if (!hasPhrase(query)) return { sql: 'w.words @@ ?::tsquery', values: [tsquery(query)] };
  switch (query.kind) {
    case 'phrase': {
      const phrase = ` ${query.terms.join(' ')}${query.lastIsPrefix ? '' : ' '}`;
      return {
        sql: '(strpos(t.title, ?) > 0 OR strpos(t.heading, ?) > 0 OR strpos(t.body, ?) > 0)',
        values: [phrase, phrase, phrase],
      };
    }
    case 'except': {
      const [keep, drop] = [exactCondition(query.keep), exactCondition(query.drop)];
      return { sql: `(${keep.sql} AND NOT ${drop.sql})`, values: [...keep.values, ...drop.values] };
    }
    case 'and':
    case 'or': {
      const parts = query.parts.map(exactCondition);
      const sql = parts.map((part) => part.sql).join(query.kind === 'and' ? ' AND ' : ' OR ');
      return { sql: `(${sql})`, values: parts.flatMap(({ values }) => values) };
    }
    default:
      return { sql: 'false', values: [] };
  }
}

function phraseMembers({ terms, lastIsPrefix }: Extract<WordLeaf, { kind: 'phrase' }>): string[] {
  return terms.map((term, index) => (lastIsPrefix && index === terms.length - 1 ? `${quoted(term)}:*` : quoted(term)));
}
