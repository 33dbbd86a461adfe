import { isAlternatives, isConjunction, roughlyRankedWords } from '../../../words/ranking/candidates.ts';
import { anyOf, type WordLeaf, type WordQuery } from '../../../words/word-query.ts';
import type { CandidateRequest, Candidates, KeyFilter, Statements, WordIndex } from '../../dialect.ts';
import { numberOf, type Row, type SqlFragment } from '../../rows.ts';
import { exactCondition, hasPhrase, joined, labelQuery, tsquery } from './tsquery.ts';

/** Returns `FROM … WHERE …` for the rows `w` of documents that match. */
export function matching({ name }: WordIndex, query: WordQuery, filter: KeyFilter | undefined): SqlFragment {
  const exact = hasPhrase(query) ? exactCondition(query) : undefined;
  const tests = [exact, filter && filterCondition('w.key', filter)].filter((test) => test !== undefined);
  return {
    // A subselect hides the words from the planner, which would read the whole table for common words.
    sql: `FROM carrel.${name}_words w ${exact ? `JOIN carrel.${name}_terms t ON t.key = w.key` : ''}
      WHERE w.words @@ (SELECT ?::tsquery)${tests.map(({ sql }) => ` AND ${sql}`).join('')}`,
    values: [withLabels([tsquery(query)], filter), ...tests.flatMap(({ values }) => values)],
  };
}

/** Returns the condition for a filter. Undefined for a filter of labels, because the word query already contains them. */
function filterCondition(key: string, filter: KeyFilter): SqlFragment | undefined {
  return filter.labels === undefined ? inSelect(key, filter) : undefined;
}

/** Returns a condition: `key` is among the rows of the given SELECT. Without IS TRUE, PostgreSQL might plan a slow join. */
function inSelect(key: string, { sql, values }: SqlFragment): SqlFragment {
  return { sql: `(${key} IN (${sql})) IS TRUE`, values };
}

/** Finds the candidates with the highest sum of word weights. This reads only the index, no tsvectors. */
export async function findCandidates(
  db: Statements,
  index: WordIndex,
  { query, filter, plan, weightOf, limit }: CandidateRequest,
): Promise<Candidates> {
  if (isConjunction(query)) {
    // Every match contains all words, so all matches have the same weight.
    const { sql, values } = matching(index, query, filter);
    const rows = await db.query(`SELECT w.key, count(*) OVER () AS total ${sql} ORDER BY w.key LIMIT ${limit}`, values);
    return candidatesOf(rows);
  }
  const isOr = isAlternatives(query);
  const essential = anyOf(plan.essential);
  const wordsOf = (leaf: WordLeaf, ...others: readonly WordQuery[]) =>
    withLabels([leaf, ...others, ...(isOr ? [] : [query])].map(tsquery), filter);
  const lists = [
    ...plan.essential.map((leaf) => ({ leaf, words: wordsOf(leaf) })),
    ...roughlyRankedWords(plan).map((leaf) => ({ leaf, words: wordsOf(leaf, essential) })),
  ];
  const remaining = remainingCondition(index, isOr ? essential : query, filter);
  const rows = await db.query(
    `SELECT m.key, count(*) OVER () AS total
     FROM unnest((SELECT ?::tsquery[]), (SELECT ?::float8[])) AS q (words, weight)
     CROSS JOIN LATERAL (SELECT w.key FROM carrel.${index.name}_words w WHERE w.words @@ q.words OFFSET 0) m
     GROUP BY m.key ${remaining ? `HAVING ${remaining.sql}` : ''} ORDER BY sum(q.weight) DESC, m.key LIMIT ${limit}`,
    [
      { list: lists.map(({ words }) => words) },
      { list: lists.map(({ leaf }) => weightOf(leaf)) },
      ...(remaining?.values ?? []),
    ],
  );
  return candidatesOf(rows);
}

/** Returns the conditions that the index can't check. */
function remainingCondition(
  index: WordIndex,
  query: WordQuery,
  filter: KeyFilter | undefined,
): SqlFragment | undefined {
  if (!hasPhrase(query)) return filter && filterCondition('m.key', filter);
  const { sql, values } = matching(index, query, filter);
  return inSelect('m.key', { sql: `SELECT w.key ${sql}`, values });
}

function withLabels(parts: readonly string[], filter: KeyFilter | undefined): string {
  return joined('&', [...parts, ...(filter?.labels === undefined ? [] : [labelQuery(filter.labels)])]);
}

function candidatesOf(rows: readonly Row[]): Candidates {
  return {
    keys: rows.map((row) => numberOf(row, 'key')),
    total: rows[0] === undefined ? 0 : numberOf(rows[0], 'total'),
  };
}
