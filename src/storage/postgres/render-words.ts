import type { WordLeaf, WordQuery } from '../../words/word-query.ts';

/** A condition on the terms table `t`, with its values in the order of their numbers. */
export interface Condition {
  readonly sql: string;
  readonly values: readonly string[];
}

/**
 * Renders a query as a condition whose values start at the number `first`. The index is asked for a superset (a phrase as
 * all of its words); where the query holds phrases, the rows found are then tested exactly.
 */
export function renderWords(query: WordQuery, first: number): Condition | undefined {
  if (query.kind === 'nothing') return undefined;
  const values = [tsquery(query)];
  const indexed = `t.words @@ $${first}::tsquery`;
  if (!hasPhrase(query)) return { sql: indexed, values };
  const exact = renderExact(query, (value) => {
    values.push(value);
    return `$${first + values.length - 1}`;
  });
  return { sql: `${indexed} AND ${exact}`, values };
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
  if (!hasPhrase(query)) return `t.words @@ ${bind(tsquery(query))}::tsquery`;
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
