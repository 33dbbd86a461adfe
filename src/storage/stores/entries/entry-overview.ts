import type { EntryStatistics, ThreadPage, ThreadsRequest } from '../../contracts/entries.ts';
import type { Dialect } from '../../dialect.ts';
import { numberOf, textOf } from '../../statements.ts';
import { query, type Work } from './work.ts';

export interface EntryOverview {
  threads(request: ThreadsRequest): Work<ThreadPage>;
  statistics(request: { readonly model: string | undefined }): Work<EntryStatistics>;
}

const threadsNamed = 5;
const tagsNamed = 10;
/** Where no limit is given. */
const threadsMax = 1_000_000;

export function createEntryOverview(dialect: Dialect): EntryOverview {
  const table = (name: string) => `${dialect.schema}context_${name}`;
  const all = `${table('threads')} t`;
  return {
    *threads({ limit, offset }) {
      const rows = yield* query(
        `SELECT * FROM ${all} ORDER BY t.last_entry DESC, t.last_id DESC LIMIT ? OFFSET ?`,
        ...[limit ?? threadsMax, offset],
      );
      const threads = rows.map((row) => {
        const [users, agents] = [numberOf(row, 'users'), numberOf(row, 'agents')];
        return {
          threadId: textOf(row, 'thread_id'),
          entries: users + agents,
          sources: Number(users > 0) + Number(agents > 0),
          multimodal: numberOf(row, 'multimodal'),
          firstEntry: textOf(row, 'first_entry'),
          lastEntry: textOf(row, 'last_entry'),
          lastId: numberOf(row, 'last_id'),
        };
      });
      return { threads, total: yield* count(all) };
    },
    *statistics({ model }) {
      const [sums = {}] = yield* query(
        `SELECT coalesce(sum(t.users), 0) AS users, coalesce(sum(t.agents), 0) AS agents,
           coalesce(sum(t.multimodal), 0) AS multimodal, count(*) AS threads FROM ${all}`,
      );
      const [users, agents] = [numberOf(sums, 'users'), numberOf(sums, 'agents')];
      const multimodal = numberOf(sums, 'multimodal');
      const mostActive = yield* query(
        `SELECT t.thread_id, t.users + t.agents AS total FROM ${all} ORDER BY total DESC, t.thread_id LIMIT ?`,
        threadsNamed,
      );
      const tags = yield* countTags();
      const [indexed = {}] = yield* query(`SELECT sum(documents) AS total FROM ${table('entry_statistics')}`);
      return {
        total: users + agents,
        bySource: present({ user: users, agent: agents }),
        byContentType: present({ text: users + agents - multimodal, multimodal }),
        images: (yield* count(table('images'))) - (yield* count(ofRemoved('images'))),
        uniqueTags: tags.length,
        threads: numberOf(sums, 'threads'),
        mostActive: mostActive.map((row) => ({ threadId: textOf(row, 'thread_id'), count: numberOf(row, 'total') })),
        topTags: tags.slice(0, tagsNamed),
        summaries: yield* count(`${table('entries')} o WHERE o.summary IS NOT NULL AND o.deleted_at IS NULL`),
        indexed: numberOf(indexed, 'total'),
        embedded: yield* countEmbedded(model, users + agents),
        vectors: yield* count(
          `${table('vectors')} WHERE model = (SELECT key FROM ${table('models')} WHERE name = ?)`,
          model ?? '',
        ),
      };
    },
  };

  /** Most first. Few entries are removed at a time: taking theirs off is cheaper than asking each whether it is. */
  function* countTags(): Work<{ tag: string; count: number }[]> {
    const rows = yield* query(`SELECT tag, count(*) AS total FROM ${table('tags')} GROUP BY tag`);
    const removed = yield* query(`SELECT p.tag, count(*) AS total FROM ${ofRemoved('tags')} GROUP BY p.tag`);
    const gone = new Map(removed.map((row) => [textOf(row, 'tag'), numberOf(row, 'total')]));
    return rows
      .map((row) => ({ tag: textOf(row, 'tag'), total: numberOf(row, 'total') }))
      .map(({ tag, total }) => ({ tag, count: total - (gone.get(tag) ?? 0) }))
      .filter((each) => each.count > 0)
      .sort((a, b) => b.count - a.count || (a.tag < b.tag ? -1 : 1));
  }

  function* countEmbedded(model: string | undefined, total: number): Work<number> {
    const [known] = yield* query(`SELECT key FROM ${table('models')} WHERE name = ?`, model ?? '');
    if (known === undefined) return 0;
    return total - (yield* count(`${table('unembedded')} WHERE model = ?`, numberOf(known, 'key')));
  }

  function ofRemoved(part: 'tags' | 'images'): string {
    // A cross join, because SQLite then takes the entries first, of which there are few.
    return `${table('entries')} o CROSS JOIN ${table(part)} p WHERE p.entry = o.key AND o.deleted_at IS NOT NULL`;
  }

  function* count(from: string, ...values: (string | number)[]): Work<number> {
    const [row = {}] = yield* query(`SELECT count(*) AS total FROM ${from}`, ...values);
    return numberOf(row, 'total');
  }
}

/** Kinds that do not occur are not named. */
function present(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}
