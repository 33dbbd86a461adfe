import type { ContentType, Source } from '../entries.ts';
import { type Dialect, query, type Work } from './work.ts';

/** What is known of each thread as a whole, kept in step by every write, so that nobody has to count. */
export interface ThreadCounts {
  add(entry: AddedEntry): Work<void>;
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

export function createThreadCounts(dialect: Dialect): ThreadCounts {
  const threads = `${dialect.schema}context_threads`;
  const columns = 'thread_id, users, agents, multimodal, first_entry, last_entry, last_id';
  return {
    *add({ id, threadId, source, type, createdAt }) {
      yield* query(
        `INSERT INTO ${threads} AS t (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (thread_id) DO UPDATE SET
           users = t.users + excluded.users, agents = t.agents + excluded.agents,
           multimodal = t.multimodal + excluded.multimodal,
           first_entry = ${dialect.least('t.first_entry', 'excluded.first_entry')},
           last_entry = ${dialect.greatest('t.last_entry', 'excluded.last_entry')},
           last_id = ${dialect.greatest('t.last_id', 'excluded.last_id')}`,
        ...[threadId, Number(source === 'user'), Number(source === 'agent'), Number(type === 'multimodal')],
        ...[createdAt, createdAt, id],
      );
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
