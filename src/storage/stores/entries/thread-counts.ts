import type { ContentType, Source } from '../../contracts/entry-filter.ts';
import type { ColumnType, Statements } from '../../dialect.ts';

export interface AddedEntry {
  readonly id: number;
  readonly threadId: string;
  readonly source: Source;
  readonly type: ContentType;
  readonly createdAt: string;
}

/** Rows that go into one statement. */
const rowsMax = 500;

const columns = 'thread_id, users, agents, multimodal, first_entry, last_entry, last_id';
const types: readonly ColumnType[] = ['text', 'bigint', 'bigint', 'bigint', 'text', 'text', 'bigint'];

/* What is known of each thread as a whole, kept in step by every write, so that nobody has to count. */

export async function countAdded(on: Statements, entries: readonly AddedEntry[]): Promise<void> {
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
    const { sql, values } = on.dialect.rows(types, rows.slice(at, at + rowsMax));
    await on.query(
      `INSERT INTO ${on.dialect.schema}context_threads AS t (${columns})
        ${sql} ON CONFLICT (thread_id) DO UPDATE
        SET users = t.users + excluded.users, agents = t.agents + excluded.agents,
        multimodal = t.multimodal + excluded.multimodal,
        first_entry = ${on.dialect.least('t.first_entry', 'excluded.first_entry')},
        last_entry = ${on.dialect.greatest('t.last_entry', 'excluded.last_entry')},
        last_id = ${on.dialect.greatest('t.last_id', 'excluded.last_id')}`,
      values,
    );
  }
}

/** An entry of the thread has become multimodal, or none any more. */
export async function countRetyped(on: Statements, threadId: string, type: ContentType): Promise<void> {
  const difference = type === 'multimodal' ? '+ 1' : '- 1';
  await on.query(
    `UPDATE ${on.dialect.schema}context_threads SET multimodal = multimodal ${difference} WHERE thread_id = ?`,
    [threadId],
  );
}

/** After entries were removed or restored. */
export async function recountThreads(on: Statements, threadIds: readonly string[]): Promise<void> {
  const list = { list: threadIds };
  const sum = (test: string) => `sum(CASE WHEN ${test} THEN 1 ELSE 0 END)`;
  await on.query(`DELETE FROM ${on.dialect.schema}context_threads WHERE thread_id IN (${on.dialect.texts})`, [list]);
  await on.query(
    `INSERT INTO ${on.dialect.schema}context_threads (${columns}) SELECT o.thread_id, ${sum("o.source = 'user'")},
      ${sum("o.source = 'agent'")}, ${sum("o.content_type = 'multimodal'")}, min(o.created_at), max(o.created_at),
      max(o.key) FROM ${on.dialect.schema}context_entries o WHERE o.thread_id IN (${on.dialect.texts})
      AND o.deleted_at IS NULL GROUP BY o.thread_id`,
    [list],
  );
}
