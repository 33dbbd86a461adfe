import type { EntryStatistics, ThreadPage, ThreadsRequest } from '../entries.ts';
import { type Dialect, numberOf, query, textOf, type Work } from './work.ts';

export interface EntryOverview {
  threads(request: ThreadsRequest): Work<ThreadPage>;
  statistics(request: { readonly model: string | undefined }): Work<EntryStatistics>;
}

const threadsNamed = 5;
const tagsNamed = 10;

export function createEntryOverview(dialect: Dialect): EntryOverview {
  const table = (name: string) => `${dialect.schema}context_${name}`;
  const live = `${table('entries')} o WHERE o.deleted_at IS NULL`;
  return {
    *threads({ limit, offset }) {
      // All of them are grouped in any case; one pass counts them too.
      const rows = yield* query(
        `SELECT o.thread_id, count(*) AS entries,
           max(CASE o.source WHEN 'user' THEN 1 ELSE 0 END) + max(CASE o.source WHEN 'agent' THEN 1 ELSE 0 END) AS sources,
           sum(CASE WHEN o.content_type = 'multimodal' THEN 1 ELSE 0 END) AS multimodal,
           min(o.created_at) AS first_entry, max(o.created_at) AS last_entry, max(o.key) AS last_id
         FROM ${live} GROUP BY o.thread_id ORDER BY last_entry DESC, last_id DESC`,
      );
      const threads = rows.slice(offset, limit === undefined ? undefined : offset + limit).map((row) => ({
        threadId: textOf(row, 'thread_id'),
        entries: numberOf(row, 'entries'),
        sources: numberOf(row, 'sources'),
        multimodal: numberOf(row, 'multimodal'),
        firstEntry: textOf(row, 'first_entry'),
        lastEntry: textOf(row, 'last_entry'),
        lastId: numberOf(row, 'last_id'),
      }));
      return { threads, total: rows.length };
    },
    *statistics({ model }) {
      const tagged = `${table('tags')} t JOIN ${table('entries')} o ON o.key = t.entry WHERE o.deleted_at IS NULL`;
      const pictured = `${table('images')} i JOIN ${table('entries')} o ON o.key = i.entry WHERE o.deleted_at IS NULL`;
      const mostActive = yield* query(
        `SELECT o.thread_id, count(*) AS total FROM ${live} GROUP BY o.thread_id ORDER BY total DESC, o.thread_id LIMIT ?`,
        threadsNamed,
      );
      const topTags = yield* query(
        `SELECT t.tag, count(*) AS total FROM ${tagged} GROUP BY t.tag ORDER BY total DESC, t.tag LIMIT ?`,
        tagsNamed,
      );
      return {
        total: yield* count(live),
        bySource: yield* groups('source'),
        byContentType: yield* groups('content_type'),
        images: yield* count(pictured),
        uniqueTags: yield* count(tagged, 'DISTINCT t.tag'),
        threads: yield* count(live, 'DISTINCT o.thread_id'),
        mostActive: mostActive.map((row) => ({ threadId: textOf(row, 'thread_id'), count: numberOf(row, 'total') })),
        topTags: topTags.map((row) => ({ tag: textOf(row, 'tag'), count: numberOf(row, 'total') })),
        summaries: yield* count(`${live} AND o.summary IS NOT NULL`),
        indexed: yield* count(table('entry_terms')),
        embedded: yield* count(
          `${table('models')} m CROSS JOIN ${live} AND m.name = ? AND NOT EXISTS (
             SELECT 1 FROM ${table('unembedded')} u WHERE u.model = m.key AND u.owner = o.key)`,
          '*',
          model ?? '',
        ),
        vectors: yield* count(
          `${table('vectors')} WHERE model = (SELECT key FROM ${table('models')} WHERE name = ?)`,
          '*',
          model ?? '',
        ),
      };
    },
  };

  function* count(from: string, what = '*', ...values: string[]): Work<number> {
    const [row = {}] = yield* query(`SELECT count(${what}) AS total FROM ${from}`, ...values);
    return numberOf(row, 'total');
  }

  function* groups(column: 'source' | 'content_type'): Work<Record<string, number>> {
    const rows = yield* query(`SELECT o.${column} AS name, count(*) AS total FROM ${live} GROUP BY o.${column}`);
    return Object.fromEntries(rows.map((row) => [textOf(row, 'name'), numberOf(row, 'total')]));
  }
}
