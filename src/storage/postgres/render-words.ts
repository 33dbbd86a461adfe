import { isAlternatives } from '../../words/ranking/candidates.ts';
import type { WordLeaf, WordQuery } from '../../words/word-query.ts';
import type { Condition } from '../rows.ts';
import { manyWordsMark, quotedTerm } from './term-rows.ts';

export interface Rendering {
  /** Narrows what is found to documents with one of these, where they can be told by the index. */
  readonly must?: WordQuery | undefined;
  /** Whether documents may have their words in `more_words`. */
  readonly hasMore: boolean;
  /**
   * Hides the words from the planner. It takes most for rarer than one that it does not know, so that it would plan for each
   * search anew, which takes as long as to find two rare words.
   */
  readonly isPlannedOnce?: boolean | undefined;
}

/**
 * Renders a query as a condition on the words `w` of an index. It is asked for a superset (a phrase as all of its words);
 * where the query holds phrases, the rows found are then tested in the `terms` `t`. Documents with too many words for one
 * tsvector are all found first, by their mark, and each word is then looked up by itself: it may be in any of their rows.
 */
export function renderWords(
  name: string,
  query: WordQuery,
  { must, hasMore, isPlannedOnce = false }: Rendering,
): Condition & { readonly terms: boolean } {
  // Alternatives need not be tested once an essential one is there.
  const asked = must !== undefined && isAlternatives(query) ? must : query;
  const words = must === undefined || asked === must ? tsquery(asked) : `(${tsquery(asked)}) & (${tsquery(must)})`;
  const found = isPlannedOnce ? 'w.words @@ (SELECT ?::tsquery)' : 'w.words @@ ?::tsquery';
  const exact = hasPhrase(asked) ? renderExact(asked, inWords) : undefined;
  if (!hasMore) {
    const tested = exact === undefined ? '' : ` AND ${exact.sql}`;
    return {
      sql: `${found}${tested}`,
      values: [words, ...(exact?.values ?? [])],
      terms: hasPhrase(asked),
    };
  }
  const more = renderExact(query, (part) => (isWord(part) ? hasInMore(name, part) : undefined));
  return {
    sql: `${found} AND CASE WHEN w.key IN (SELECT m.key FROM carrel.${name}_words m WHERE m.words @@ ?::tsquery)
      THEN ${more.sql} ELSE ${exact?.sql ?? 'true'} END`,
    values: [`(${words}) | ${manyWordsMark}`, manyWordsMark, ...more.values, ...(exact?.values ?? [])],
    terms: hasPhrase(query),
  };
}

/** Whether a document with many words has this one; of a phrase, any of its words. */
export function hasInMore(name: string, leaf: WordLeaf): Condition {
  const words = leaf.kind === 'phrase' ? phraseMembers(leaf).join(' | ') : tsquery(leaf);
  return {
    sql: `w.key IN (SELECT m.key FROM carrel.${name}_more_words m WHERE m.words @@ ?::tsquery)`,
    values: [words],
  };
}

function inWords(query: WordQuery): Condition | undefined {
  return hasPhrase(query) ? undefined : { sql: 'w.words @@ ?::tsquery', values: [tsquery(query)] };
}

function isWord(query: WordQuery): query is WordLeaf {
  return query.kind === 'term' || query.kind === 'prefix' || query.kind === 'near';
}

/** The query in PostgreSQL's own language, finding at least what the query does. Every term is quoted. */
export function tsquery(query: WordQuery): string {
  switch (query.kind) {
    case 'nothing':
      return '';
    case 'term':
      return quotedTerm(query.term);
    case 'prefix':
      return `${quotedTerm(query.prefix)}:*`;
    case 'near':
      return query.terms.map(({ term }) => quotedTerm(term)).join(' | ');
    case 'phrase':
      return phraseMembers(query).join(' & ');
    case 'except':
      // What phrases take away cannot be told by their words.
      return hasPhrase(query.drop) ? tsquery(query.keep) : `(${tsquery(query.keep)}) & !(${tsquery(query.drop)})`;
    default:
      return query.parts.map((part) => `(${tsquery(part)})`).join(query.kind === 'and' ? ' & ' : ' | ');
  }
}

/** Phrases are looked for in the terms; what has none, as `found` says where it can. */
function renderExact(query: WordQuery, found: (part: WordQuery) => Condition | undefined): Condition {
  const known = found(query);
  if (known !== undefined) return known;
  switch (query.kind) {
    case 'phrase': {
      const phrase = ` ${query.terms.join(' ')}${query.open ? '' : ' '}`;
      return {
        sql: '(strpos(t.title, ?) > 0 OR strpos(t.heading, ?) > 0 OR strpos(t.body, ?) > 0)',
        values: [phrase, phrase, phrase],
      };
    }
    case 'except': {
      const [keep, drop] = [renderExact(query.keep, found), renderExact(query.drop, found)];
      return { sql: `(${keep.sql} AND NOT ${drop.sql})`, values: [...keep.values, ...drop.values] };
    }
    case 'and':
    case 'or': {
      const parts = query.parts.map((part) => renderExact(part, found));
      const sql = parts.map((part) => part.sql).join(query.kind === 'and' ? ' AND ' : ' OR ');
      return { sql: `(${sql})`, values: parts.flatMap(({ values }) => values) };
    }
    default:
      return { sql: 'false', values: [] };
  }
}

function hasPhrase(query: WordQuery): boolean {
  if (query.kind === 'except') return hasPhrase(query.keep) || hasPhrase(query.drop);
  return 'parts' in query ? query.parts.some(hasPhrase) : query.kind === 'phrase';
}

function phraseMembers({ terms, open }: Extract<WordLeaf, { kind: 'phrase' }>): string[] {
  return terms.map((term, index) => (open && index === terms.length - 1 ? `${quotedTerm(term)}:*` : quotedTerm(term)));
}
