import type { Dialect } from '../../dialect.ts';
import type { ContentType, Source } from './entry-filter.ts';
import { query, type Work } from './work.ts';

/** What is known of each thread as a whole, kept in step by every write, so that nobody has to count. */
export interface ThreadCounts {
  add(entries: readonly AddedEntry[]): Work<void>;
  /** An entry of the thread has become multimodal, or none any more. */
  retype(threadId: string, type: ContentType): Work<void>;
  /** After entries were removed or restored. */
  recount(threadIds: readonly string[]): Work<void>;
}

export interface AddedEntry {
  readonly id: number;
  readonly threadId: string;
  readonly source: Source;
  readonly type: ContentType;
  readonly createdAt: string;
}

/** Rows that go into one statement. */
const rowsMax = 500;

export function createThreadCounts(dialect: Dialect): ThreadCounts {
  const threads = `${dialect.schema}context_threads`;
  const columns = 'thread_id, users, agents, multimodal, first_entry, last_entry, last_id';
  return {
    *add(entries) {
      const rows = [...Map.groupBy(entries, ({ threadId }) => threadId)].map(([threadId, added]) => {
        const count = (holds: (entry: AddedEntry) => boolean) => added.filter(holds).length;
        const times = added.map(({ createdAt }) => createdAt).sort();
        return [
          ...[threadId, count(({ source }) => source === 'user'), count(({ source }) => source === 'agent')],
          ...[count(({ type }) => type === 'multimodal'), times.at(0) ?? '', times.at(-1) ?? ''],
          Math.max(...added.map(({ id }) => id)),
        ];
      });
      for (let at = 0; at < rows.length; at += rowsMax) {
        const some = rows.slice(at, at + rowsMax);
        yield* query(
          `INSERT INTO ${threads} AS t (${columns}) VALUES ${some.map(() => '(?, ?, ?, ?, ?, ?, ?)').join(', ')} ON CONFLICT (thread_id) DO UPDATE SET
           users = t.users + excluded.users, agents = t.agents + excluded.agents,
           multimodal = t.multimodal + excluded.multimodal,
           first_entry = ${dialect.least('t.first_entry', 'excluded.first_entry')},
           last_entry = ${dialect.greatest('t.last_entry', 'excluded.last_entry')},
           last_id = ${dialect.greatest('t.last_id', 'excluded.last_id')}`,
          ...some.flat(),
        );
      }
    },
    *retype(threadId, type) {
      const difference = type === 'multimodal' ? '+ 1' : '- 1';
      yield* query(`UPDATE ${threads} SET multimodal = multimodal ${difference} WHERE thread_id = ?`, threadId);
    },
    *recount(threadIds) {
      const list = { list: threadIds };
      const sum = (test: string) => `sum(CASE WHEN ${test} THEN 1 ELSE 0 END)`;
      yield* query(`DELETE FROM ${threads} WHERE thread_id IN (${dialect.texts})`, list);
      yield* query(
        `INSERT INTO ${threads} (${columns})
         SELECT o.thread_id, ${sum("o.source = 'user'")}, ${sum("o.source = 'agent'")},
           ${sum("o.content_type = 'multimodal'")}, min(o.created_at), max(o.created_at), max(o.key)
         FROM ${dialect.schema}context_entries o
         WHERE o.thread_id IN (${dialect.texts}) AND o.deleted_at IS NULL GROUP BY o.thread_id`,
        list,
      );
    },
  };
}
