import type { FoundPage, Ranked, ScoredWords, ScoreWordsRequest } from '../../words/ranking/word-index.ts';
import type { WordQuery } from '../../words/word-query.ts';
import type { Statements } from '../dialect.ts';
import type { SqlFragment } from '../rows.ts';
import { allOf, readSetting } from '../statements.ts';
import { findWords, scoreWords } from '../words/find-words.ts';
import { entryWords } from '../words/word-indexes.ts';
import type { EntryFilter, ThreadScope } from './entry.ts';
import { inVisibleThreads } from './filter-condition.ts';
import { type EntryText, planOf, textOfRow } from './read-entries.ts';
import { changedEntries, searchCondition, selectEntries, selectedKeys } from './select-entries.ts';

interface WordSearchRequest {
  readonly query: WordQuery;
  readonly filter: EntryFilter;
  readonly limit: number;
  readonly offset: number;
  /** False to skip counting all matches. */
  readonly counts?: boolean;
  /** True to add the database's query plan. */
  readonly explain: boolean;
}

export interface ScoredEntry extends Omit<Ranked, 'key'> {
  readonly id: number;
}

export interface ScoredPage extends Omit<FoundPage, 'found'> {
  readonly hits: readonly ScoredEntry[];
  readonly plan: string | undefined;
}

/** Searches by words. Returns the most relevant entries first; ties are ordered by id. */
export async function searchEntryWords(
  db: Statements,
  { query: words, filter, limit, offset, counts, explain }: WordSearchRequest,
): Promise<ScoredPage> {
  const keysOf = (where: SqlFragment) => ({
    sql: `SELECT o.key FROM context_entries o WHERE ${where.sql}`,
    values: where.values,
  });
  const { condition, selection } = await searchCondition(db, filter);
  const keys = condition && keysOf(condition);
  const { found, ...page } = await findWords(db, entryWords, words, keys, { limit, offset, counts });
  return {
    ...page,
    hits: found.map(({ key, score, coverage }) => ({ id: key, score, coverage })),
    plan: explain ? await planOf(db, keysOf(selection.condition), selection) : undefined,
  };
}

/** Scores the entries with these keys (their ids) for each term of a query. */
export async function scoreEntryWords(db: Statements, request: ScoreWordsRequest): Promise<ScoredWords> {
  return scoreWords(db, entryWords, request);
}

/** Returns the ids of entries that pass the filter and can be searched, ascending. */
export async function matchingEntries(db: Statements, filter: EntryFilter): Promise<number[]> {
  return selectedKeys(db, await selectEntries(db, filter, 'search'));
}

/** Returns SQL for a column of the entry that precedes `o` in its thread. */
export function ofEntryBefore(column: string): string {
  return `(SELECT p.${column} FROM context_entries p WHERE p.thread_id = o.thread_id AND p.key < o.key
    AND p.deleted_at IS NULL ORDER BY p.key DESC LIMIT 1)`;
}

interface TextsBeforeRequest extends ThreadScope {
  readonly ids: readonly number[];
  /** Max characters of each text. Longer texts are omitted. */
  readonly charsMax: number;
}

/** Returns, for each entry, the previous text in its thread, if both texts are short. */
export async function textsBefore(db: Statements, request: TextsBeforeRequest): Promise<EntryText[]> {
  const { integers } = db.dialect;
  const { ids, charsMax } = request;
  const { sql, values } = allOf([
    { sql: `o.key IN (${integers})`, values: [{ list: ids }] },
    { sql: 'length(o.text_content) <= ? AND length(b.text_content) <= ?', values: [charsMax, charsMax] },
    ...inVisibleThreads(request, db.dialect),
  ]);
  const rows = await db.query(
    `SELECT o.key, b.text_content FROM context_entries o
       JOIN context_entries b ON b.key = ${ofEntryBefore('key')} WHERE ${sql}`,
    values,
  );
  return rows.map(textOfRow);
}

export interface HistoryGaps {
  /** Number of entries that were changed after `asOf` and whose earlier state is unknown. */
  readonly unknown: number;
  /** Number of entries that searches cannot find, because their text was changed or they were removed after `asOf`. */
  readonly unsearched: number;
  /** True if entries that existed at `asOf` may have been purged. */
  readonly purged: boolean;
}

/** Counts the entries that a search in the past cannot show. */
export async function historyGaps(
  db: Statements,
  filter: EntryFilter & { readonly asOf: string },
): Promise<HistoryGaps> {
  const { matching, sameText, unknown } = await changedEntries(db, filter, filter.asOf);
  const selection = await selectEntries(db, filter, 'read');
  const removed = allOf([selection.condition, { sql: 'o.deleted_at IS NOT NULL', values: [] }]);
  const same = new Set(sameText);
  const unsearched = new Set([
    ...(await selectedKeys(db, { ...selection, condition: removed })),
    ...matching.filter((id) => !same.has(id)),
  ]);
  const purgedTo = await readSetting(db, 'purged_to');
  return { unknown, unsearched: unsearched.size, purged: purgedTo !== undefined && purgedTo > filter.asOf };
}
