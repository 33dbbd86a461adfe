import type { AmongThreads, EntryStatistics, TagCount, ThreadPage, ThreadsRequest } from '../../contracts/entries.ts';
import type { Statements } from '../../dialect.ts';
import { type BoundValue, type Condition, numberOf, textOf } from '../../rows.ts';
import { storable } from '../../storable.ts';

const threadsNamed = 5;
const tagsNamed = 10;
const tagsMax = 10_000;
/** Where no limit is given. */
const threadsMax = 1_000_000;

export async function listThreads(on: Statements, request: ThreadsRequest): Promise<ThreadPage> {
  const { containing, limit, offset } = request;
  const named =
    containing === undefined
      ? []
      : [{ sql: `${on.dialect.position('t.thread_id', '?')} > 0`, values: [storable(containing)] }];
  const condition = whereAll([...named, ...ofThreads(on, request, 't')]);
  const from = `${on.dialect.schema}context_threads t ${condition.sql}`;
  const wanted = condition.values;
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
  { model, ...scope }: AmongThreads & { readonly model: string | undefined },
): Promise<EntryStatistics> {
  const { schema } = on.dialect;
  const threads = whereAll(ofThreads(on, scope, 't'));
  const [sums = {}] = await on.query(
    `SELECT coalesce(sum(t.users), 0) AS users, coalesce(sum(t.agents), 0) AS agents,
      coalesce(sum(t.multimodal), 0) AS multimodal, count(*) AS threads FROM ${schema}context_threads t ${threads.sql}`,
    threads.values,
  );
  const [users, agents] = [numberOf(sums, 'users'), numberOf(sums, 'agents')];
  const multimodal = numberOf(sums, 'multimodal');
  const mostActive = await on.query(
    `SELECT t.thread_id, t.users + t.agents AS total FROM ${schema}context_threads t ${threads.sql}
      ORDER BY total DESC, t.thread_id LIMIT ?`,
    [...threads.values, threadsNamed],
  );
  const tags = await countTags(on, scope);
  const live = whereAll([{ sql: 'o.deleted_at IS NULL', values: [] }, ...ofThreads(on, scope, 'o')]);
  const total = users + agents;
  return {
    total,
    bySource: present({ user: users, agent: agents }),
    byContentType: present({ text: total - multimodal, multimodal }),
    images: await countImages(on, scope),
    uniqueTags: tags.length,
    threads: numberOf(sums, 'threads'),
    mostActive: mostActive.map((row) => ({ threadId: textOf(row, 'thread_id'), count: numberOf(row, 'total') })),
    topTags: tags.slice(0, tagsNamed),
    summaries: await count(on, `${schema}context_entries o ${live.sql} AND o.summary IS NOT NULL`, ...live.values),
    // Every entry is, in the transaction that writes it.
    indexed: scope.amongThreads === undefined ? await countIndexed(on) : total,
    embedded: await countEmbedded(on, model, total, scope),
    vectors: await count(
      on,
      `${schema}context_vectors v WHERE v.model = (SELECT key FROM ${schema}context_models WHERE name = ?)
        ${ownedBy(on, scope, 'v.owner').sql}`,
      model ?? '',
      ...ownedBy(on, scope, 'v.owner').values,
    ),
  };
}

async function countIndexed(on: Statements): Promise<number> {
  const [indexed = {}] = await on.query(
    `SELECT sum(documents) AS total FROM ${on.dialect.schema}context_entry_statistics`,
  );
  return numberOf(indexed, 'total');
}

async function countImages(on: Statements, scope: AmongThreads): Promise<number> {
  const { schema } = on.dialect;
  if (scope.amongThreads === undefined) {
    return (await count(on, `${schema}context_images`)) - (await count(on, ofRemoved(on, 'images')));
  }
  const { sql, values } = ownedBy(on, scope, 'i.entry');
  return count(on, `${schema}context_images i WHERE 1 = 1 ${sql}`, ...values);
}

export async function listTags(on: Statements, request: AmongThreads): Promise<TagCount[]> {
  return (await countTags(on, request)).slice(0, tagsMax);
}

/** Most first. Few entries are removed at a time: taking theirs off is cheaper than asking each whether it is. */
async function countTags(on: Statements, scope: AmongThreads): Promise<TagCount[]> {
  const { schema } = on.dialect;
  const isSome = scope.amongThreads !== undefined;
  const own = ownedBy(on, scope, 'p.entry');
  const rows = await on.query(
    `SELECT p.tag, count(*) AS total FROM ${schema}context_tags p WHERE 1 = 1 ${own.sql} GROUP BY p.tag`,
    own.values,
  );
  const removed = isSome
    ? []
    : await on.query(`SELECT p.tag, count(*) AS total FROM ${ofRemoved(on, 'tags')} GROUP BY p.tag`);
  const gone = new Map(removed.map((row) => [textOf(row, 'tag'), numberOf(row, 'total')]));
  return rows
    .map((row) => ({ tag: textOf(row, 'tag'), total: numberOf(row, 'total') }))
    .map(({ tag, total }) => ({ tag, count: total - (gone.get(tag) ?? 0) }))
    .filter((each) => each.count > 0)
    .sort((a, b) => b.count - a.count || (a.tag < b.tag ? -1 : 1));
}

async function countEmbedded(
  on: Statements,
  model: string | undefined,
  total: number,
  scope: AmongThreads,
): Promise<number> {
  const { schema } = on.dialect;
  const [known] = await on.query(`SELECT key FROM ${schema}context_models WHERE name = ?`, [model ?? '']);
  if (known === undefined) return 0;
  const { sql, values } = ownedBy(on, scope, 'u.owner');
  const waiting = `${schema}context_unembedded u WHERE u.model = ? ${sql}`;
  return total - (await count(on, waiting, numberOf(known, 'key'), ...values));
}

/** For rows `t` that name their thread. */
function ofThreads(on: Statements, { amongThreads: threads }: AmongThreads, alias: string): Condition[] {
  if (threads === undefined) return [];
  return [{ sql: `${alias}.thread_id IN (${on.dialect.texts})`, values: [{ list: threads.map(storable) }] }];
}

/** For rows that belong to an entry: behind another condition, those of entries of the threads that are not removed. */
function ownedBy(on: Statements, scope: AmongThreads, entry: string): Condition {
  if (scope.amongThreads === undefined) return { sql: '', values: [] };
  const { sql, values } = whereAll([{ sql: 'o.deleted_at IS NULL', values: [] }, ...ofThreads(on, scope, 'o')]);
  return { sql: `AND ${entry} IN (SELECT o.key FROM ${on.dialect.schema}context_entries o ${sql})`, values };
}

function whereAll(conditions: readonly Condition[]): Condition {
  return {
    sql: conditions.length === 0 ? '' : `WHERE ${conditions.map(({ sql }) => sql).join(' AND ')}`,
    values: conditions.flatMap(({ values }) => values),
  };
}

function ofRemoved(on: Statements, part: 'tags' | 'images'): string {
  // A cross join, because SQLite then takes the entries first, of which there are few.
  return `${on.dialect.schema}context_entries o CROSS JOIN ${on.dialect.schema}context_${part} p
    WHERE p.entry = o.key AND o.deleted_at IS NOT NULL`;
}

async function count(on: Statements, from: string, ...values: readonly BoundValue[]): Promise<number> {
  const [row = {}] = await on.query(`SELECT count(*) AS total FROM ${from}`, values);
  return numberOf(row, 'total');
}

/** Kinds that do not occur are not named. */
function present(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}
