import type { WordLeaf, WordQuery } from '../../words/word-query.ts';
import type { Condition } from '../statements.ts';

/**
 * Renders a query as a condition on the words `w`. The index is asked for a superset (a phrase as all of its words), narrowed
 * by `must`; where the query holds phrases, the rows found are then tested `exact`ly in the terms `t`.
 */
export function renderWords(query: WordQuery, must?: string): Condition & { readonly exact: boolean } {
  const values = [must === undefined ? tsquery(query) : `(${tsquery(query)}) & (${must})`];
  const indexed = 'w.words @@ ?::tsquery';
  if (!hasPhrase(query)) return { sql: indexed, values, exact: false };
  const exact = renderExact(query, values);
  return { sql: `${indexed} AND ${exact}`, values, exact: true };
}

/** The query in PostgreSQL's own language, finding at least what the query does. Every term is quoted. */
export function tsquery(query: WordQuery): string {
  switch (query.kind) {
    case 'nothing':
      return '';
    case 'term':
      return quoted(query.term);
    case 'prefix':
      return `${quoted(query.prefix)}:*`;
    case 'phrase':
      return phraseMembers(query).join(' & ');
    case 'except':
      // What phrases take away cannot be told by their words.
      return hasPhrase(query.drop) ? tsquery(query.keep) : `(${tsquery(query.keep)}) & !(${tsquery(query.drop)})`;
    default:
      return query.parts.map((part) => `(${tsquery(part)})`).join(query.kind === 'and' ? ' & ' : ' | ');
  }
}

/** Adds the values of its question marks. */
function renderExact(query: WordQuery, values: string[]): string {
  if (!hasPhrase(query)) {
    values.push(tsquery(query));
    return 'w.words @@ ?::tsquery';
  }
  switch (query.kind) {
    case 'phrase': {
      const phrase = ` ${query.terms.join(' ')}${query.open ? '' : ' '}`;
      values.push(phrase, phrase, phrase);
      return '(strpos(t.title, ?) > 0 OR strpos(t.heading, ?) > 0 OR strpos(t.body, ?) > 0)';
    }
    case 'except':
      return `(${renderExact(query.keep, values)} AND NOT ${renderExact(query.drop, values)})`;
    case 'and':
      return `(${query.parts.map((part) => renderExact(part, values)).join(' AND ')})`;
    case 'or':
      return `(${query.parts.map((part) => renderExact(part, values)).join(' OR ')})`;
    default:
      return 'false';
  }
}

function hasPhrase(query: WordQuery): boolean {
  if (query.kind === 'except') return hasPhrase(query.keep) || hasPhrase(query.drop);
  return 'parts' in query ? query.parts.some(hasPhrase) : query.kind === 'phrase';
}

function phraseMembers({ terms, open }: Extract<WordLeaf, { kind: 'phrase' }>): string[] {
  return terms.map((term, index) => (open && index === terms.length - 1 ? `${quoted(term)}:*` : quoted(term)));
}

function quoted(term: string): string {
  return `'${term.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}
