import type { WordLeaf, WordQuery } from '../../words/word-query.ts';

/** A piece of SQL, with its values in the order of their numbers. */
export interface Condition {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/**
 * Renders a query as a condition on the words `w` whose values start at the number `first`. The index is asked for a
 * superset (a phrase as all of its words), narrowed by `must`; where the query holds phrases, the rows found are then
 * tested `exact`ly in the terms `t`.
 */
export function renderWords(query: WordQuery, first: number, must?: string): Condition & { readonly exact: boolean } {
  const values = [must === undefined ? tsquery(query) : `(${tsquery(query)}) & (${must})`];
  const indexed = `w.words @@ $${first}::tsquery`;
  if (!hasPhrase(query)) return { sql: indexed, values, exact: false };
  const exact = renderExact(query, (value) => {
    values.push(value);
    return `$${first + values.length - 1}`;
  });
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

function renderExact(query: WordQuery, bind: (value: string) => string): string {
  if (!hasPhrase(query)) return `w.words @@ ${bind(tsquery(query))}::tsquery`;
  switch (query.kind) {
    case 'phrase': {
      const value = bind(` ${query.terms.join(' ')}${query.open ? '' : ' '}`);
      return `(strpos(t.title, ${value}) > 0 OR strpos(t.heading, ${value}) > 0 OR strpos(t.body, ${value}) > 0)`;
    }
    case 'except':
      return `(${renderExact(query.keep, bind)} AND NOT ${renderExact(query.drop, bind)})`;
    case 'and':
      return `(${query.parts.map((part) => renderExact(part, bind)).join(' AND ')})`;
    case 'or':
      return `(${query.parts.map((part) => renderExact(part, bind)).join(' OR ')})`;
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
