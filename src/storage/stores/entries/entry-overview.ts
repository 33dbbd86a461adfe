import type { EntryStatistics, TagCount, ThreadPage, ThreadsRequest } from '../../contracts/entries.ts';
import type { Statements } from '../../dialect.ts';
import { numberOf, textOf } from '../../rows.ts';
import { storable } from '../../storable.ts';

const threadsNamed = 5;
const tagsNamed = 10;
const tagsMax = 10_000;
/** Where no limit is given. */
const threadsMax = 1_000_000;

export async function listThreads(on: Statements, request: ThreadsRequest): Promise<ThreadPage> {
  const { containing, limit, offset } = request;
  const from = `${on.dialect.schema}context_threads t${
    containing === undefined ? '' : ` WHERE ${on.dialect.position('t.thread_id', '?')} > 0`
  }`;
  const wanted = containing === undefined ? [] : [storable(containing)];
  const rows = await on.query(`SELECT * FROM ${from} ORDER BY t.last_entry DESC, t.last_id DESC LIMIT ? OFFSET ?`, [
    ...wanted,
    limit ?? threadsMax,
    offset,
  ]);
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
  return { threads, total: await count(on, from, ...wanted) };
}

export async function entryStatistics(
  on: Statements,
  { model }: { readonly model: string | undefined },
): Promise<EntryStatistics> {
  const [sums = {}] = await on.query(`SELECT coalesce(sum(t.users), 0) AS users, coalesce(sum(t.agents), 0) AS agents,
    coalesce(sum(t.multimodal), 0) AS multimodal, count(*) AS threads FROM ${on.dialect.schema}context_threads t`);
  const [users, agents] = [numberOf(sums, 'users'), numberOf(sums, 'agents')];
  const multimodal = numberOf(sums, 'multimodal');
  const mostActive = await on.query(
    `SELECT t.thread_id, t.users + t.agents AS total FROM ${on.dialect.schema}context_threads t
      ORDER BY total DESC, t.thread_id LIMIT ?`,
    [threadsNamed],
  );
  const tags = await countTags(on);
  const [indexed = {}] = await on.query(
    `SELECT sum(documents) AS total FROM ${on.dialect.schema}context_entry_statistics`,
  );
  return {
    total: users + agents,
    bySource: present({ user: users, agent: agents }),
    byContentType: present({ text: users + agents - multimodal, multimodal }),
    images: (await count(on, `${on.dialect.schema}context_images`)) - (await count(on, ofRemoved(on, 'images'))),
    uniqueTags: tags.length,
    threads: numberOf(sums, 'threads'),
    mostActive: mostActive.map((row) => ({ threadId: textOf(row, 'thread_id'), count: numberOf(row, 'total') })),
    topTags: tags.slice(0, tagsNamed),
    summaries: await count(
      on,
      `${on.dialect.schema}context_entries o WHERE o.summary IS NOT NULL AND o.deleted_at IS NULL`,
    ),
    indexed: numberOf(indexed, 'total'),
    embedded: await countEmbedded(on, model, users + agents),
    vectors: await count(
      on,
      `${on.dialect.schema}context_vectors WHERE model = (SELECT key FROM ${on.dialect.schema}context_models
        WHERE name = ?)`,
      model ?? '',
    ),
  };
}

export async function listTags(on: Statements, _request: Record<string, never>): Promise<TagCount[]> {
  return (await countTags(on)).slice(0, tagsMax);
}

/** Most first. Few entries are removed at a time: taking theirs off is cheaper than asking each whether it is. */
async function countTags(on: Statements): Promise<TagCount[]> {
  const rows = await on.query(`SELECT tag, count(*) AS total FROM ${on.dialect.schema}context_tags GROUP BY tag`);
  const removed = await on.query(`SELECT p.tag, count(*) AS total FROM ${ofRemoved(on, 'tags')} GROUP BY p.tag`);
  const gone = new Map(removed.map((row) => [textOf(row, 'tag'), numberOf(row, 'total')]));
  return rows
    .map((row) => ({ tag: textOf(row, 'tag'), total: numberOf(row, 'total') }))
    .map(({ tag, total }) => ({ tag, count: total - (gone.get(tag) ?? 0) }))
    .filter((each) => each.count > 0)
    .sort((a, b) => b.count - a.count || (a.tag < b.tag ? -1 : 1));
}

async function countEmbedded(on: Statements, model: string | undefined, total: number): Promise<number> {
  const [known] = await on.query(`SELECT key FROM ${on.dialect.schema}context_models WHERE name = ?`, [model ?? '']);
  if (known === undefined) return 0;
  return total - (await count(on, `${on.dialect.schema}context_unembedded WHERE model = ?`, numberOf(known, 'key')));
}

function ofRemoved(on: Statements, part: 'tags' | 'images'): string {
  // A cross join, because SQLite then takes the entries first, of which there are few.
  return `${on.dialect.schema}context_entries o CROSS JOIN ${on.dialect.schema}context_${part} p
    WHERE p.entry = o.key AND o.deleted_at IS NOT NULL`;
}

async function count(on: Statements, from: string, ...values: (string | number)[]): Promise<number> {
  const [row = {}] = await on.query(`SELECT count(*) AS total FROM ${from}`, values);
  return numberOf(row, 'total');
}

/** Kinds that do not occur are not named. */
function present(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}
