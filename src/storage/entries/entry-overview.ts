import type { Statements } from '../dialect.ts';
import { type Condition, numberOf, textOf } from '../rows.ts';
import { storable } from '../storable.ts';
import type { AmongThreads, EntryStatistics, TagCount, ThreadPage, ThreadsRequest } from './entry.ts';
import { allOf, amongThreads, isLive } from './filter-condition.ts';

const threadsNamed = 5;
const tagsNamed = 10;
const tagsMax = 10_000;
/** Max threads if no limit is given. */
const threadsMax = 1_000_000;

export async function listThreads(on: Statements, request: ThreadsRequest): Promise<ThreadPage> {
  const { containing, limit, offset } = request;
  const named = { sql: `${on.dialect.position('o.thread_id', '?')} > 0`, values: [storable(containing ?? '')] };
  const where = whereAll([...(containing === undefined ? [] : [named]), ...amongThreads(request, on.dialect)]);
  const rows = await on.query(
    `SELECT * FROM ${on.dialect.schema}context_threads o ${where.sql}
      ORDER BY o.last_entry DESC, o.last_id DESC LIMIT ? OFFSET ?`,
    [...where.values, limit ?? threadsMax, offset],
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
  return { threads, total: await count(on, 'context_threads o', where) };
}

export async function entryStatistics(
  on: Statements,
  { model, ...scope }: AmongThreads & { readonly model: string | undefined },
): Promise<EntryStatistics> {
  const { schema } = on.dialect;
  const ofThreads = amongThreads(scope, on.dialect);
  const where = whereAll(ofThreads);
  const [sums = {}] = await on.query(
    `SELECT coalesce(sum(o.users), 0) AS users, coalesce(sum(o.agents), 0) AS agents,
      coalesce(sum(o.multimodal), 0) AS multimodal, count(*) AS threads FROM ${schema}context_threads o ${where.sql}`,
    where.values,
  );
  const [users, agents] = [numberOf(sums, 'users'), numberOf(sums, 'agents')];
  const multimodal = numberOf(sums, 'multimodal');
  const total = users + agents;
  const mostActive = await on.query(
    `SELECT o.thread_id, o.users + o.agents AS total FROM ${schema}context_threads o ${where.sql}
      ORDER BY total DESC, o.thread_id LIMIT ?`,
    [...where.values, threadsNamed],
  );
  const tags = await countTags(on, scope);
  const summarised = whereAll([isLive, { sql: 'o.summary IS NOT NULL', values: [] }, ...ofThreads]);
  const [known] = await on.query(`SELECT key FROM ${schema}vector_models WHERE corpus = 'context' AND name = ?`, [
    model ?? '',
  ]);
  const ofModel = { sql: 'p.model = ?', values: [known === undefined ? 0 : numberOf(known, 'key')] };
  const owned = ofThreads.length === 0 ? [] : [ofLiveEntries(on, scope, 'p.owner')];
  const ofOwners = whereAll([ofModel, ...owned]);
  return {
    total,
    bySource: present({ user: users, agent: agents }),
    byContentType: present({ text: total - multimodal, multimodal }),
    images: await count(on, 'context_images p', whereAll([ofLiveEntries(on, scope, 'p.entry')])),
    uniqueTags: tags.length,
    threads: numberOf(sums, 'threads'),
    mostActive: mostActive.map((row) => ({ threadId: textOf(row, 'thread_id'), count: numberOf(row, 'total') })),
    topTags: tags.slice(0, tagsNamed),
    summaries: await count(on, 'context_entries o', summarised),
    // Entries are indexed by the transaction that writes them.
    indexed: total,
    embedded: known === undefined ? 0 : total - (await count(on, 'context_unembedded p', ofOwners)),
    vectors: await count(on, 'context_vectors p', ofOwners),
  };
}

/** The tags of entries, most common first; at most 10,000. */
export async function listTags(on: Statements, request: AmongThreads): Promise<TagCount[]> {
  return (await countTags(on, request)).slice(0, tagsMax);
}

/** Most common first. */
async function countTags(on: Statements, scope: AmongThreads): Promise<TagCount[]> {
  const { sql, values } = ofLiveEntries(on, scope, 'p.entry');
  const rows = await on.query(
    `SELECT p.tag, count(*) AS total FROM ${on.dialect.schema}context_tags p WHERE ${sql} GROUP BY p.tag`,
    values,
  );
  return rows
    .map((row) => ({ tag: textOf(row, 'tag'), count: numberOf(row, 'total') }))
    .sort((a, b) => b.count - a.count || (a.tag < b.tag ? -1 : 1));
}

/** Condition on rows of parts whose entry is not removed. */
function ofLiveEntries(on: Statements, scope: AmongThreads, entry: string): Condition {
  const { schema } = on.dialect;
  const ofThreads = amongThreads(scope, on.dialect);
  // Few entries are removed: listing those is cheaper.
  if (ofThreads.length === 0) {
    return {
      sql: `${entry} NOT IN (SELECT key FROM ${schema}context_entries WHERE deleted_at IS NOT NULL)`,
      values: [],
    };
  }
  const { sql, values } = allOf([isLive, ...ofThreads]);
  return { sql: `${entry} IN (SELECT o.key FROM ${schema}context_entries o WHERE ${sql})`, values };
}

function whereAll(conditions: readonly Condition[]): Condition {
  const { sql, values } = allOf(conditions);
  return { sql: sql === '' ? '' : `WHERE ${sql}`, values };
}

async function count(on: Statements, table: string, { sql, values }: Condition): Promise<number> {
  const [row = {}] = await on.query(`SELECT count(*) AS total FROM ${on.dialect.schema}${table} ${sql}`, values);
  return numberOf(row, 'total');
}

/** Omits kinds that do not occur. */
function present(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}
