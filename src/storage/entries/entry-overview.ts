import type { Statements } from '../dialect.ts';
import { field, numberOf, type RecordOf, recordOf, type SqlFragment, textOf } from '../rows.ts';
import { allOf, countRows } from '../statements.ts';
import { storable } from '../storable.ts';
import type { ThreadScope } from './entry.ts';
import { inVisibleThreads, isLive } from './filter-condition.ts';

/** Max threads and tags in the statistics. */
const topThreadsMax = 5;
const topTagsMax = 10;

/** Max tags in a list. */
const tagsMax = 10_000;

interface ThreadsRequest extends ThreadScope {
  /** If set, only threads whose id contains this text. */
  readonly containing?: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

const threadFields = {
  threadId: field.text('thread_id'),
  entries: field.number('entries'),
  sources: field.number('sources'),
  multimodal: field.number('multimodal'),
  firstEntry: field.text('first_entry'),
  lastEntry: field.text('last_entry'),
  lastId: field.number('last_id'),
};

/** Lists threads, most recently used first. */
export async function listThreads(
  db: Statements,
  request: ThreadsRequest,
): Promise<{ threads: RecordOf<typeof threadFields>[]; total: number }> {
  const { containing } = request;
  const byName = { sql: `${db.dialect.position('o.thread_id', '?')} > 0`, values: [storable(containing ?? '')] };
  const { sql, values } = allOf([
    isLive,
    ...(containing === undefined ? [] : [byName]),
    ...inVisibleThreads(request, db.dialect),
  ]);
  const from = `context_entries o WHERE ${sql}`;
  const rows = await db.query(
    `SELECT o.thread_id, count(*) AS entries, count(DISTINCT o.source) AS sources, ${multimodal} AS multimodal,
      min(o.created_at) AS first_entry, max(o.created_at) AS last_entry, max(o.key) AS last_id
      FROM ${from} GROUP BY o.thread_id ORDER BY last_entry DESC, last_id DESC LIMIT ? OFFSET ?`,
    [...values, request.limit, request.offset],
  );
  const [count = {}] = await db.query(`SELECT count(DISTINCT o.thread_id) AS total FROM ${from}`, values);
  return { threads: rows.map((row) => recordOf(threadFields, row)), total: numberOf(count, 'total') };
}

/** SQL that counts the entries `o` with images. */
const multimodal = "coalesce(sum(CASE WHEN o.content_type = 'multimodal' THEN 1 ELSE 0 END), 0)";

interface TagCount {
  readonly tag: string;
  readonly count: number;
}

interface EntryStatistics {
  readonly total: number;
  readonly bySource: Readonly<Record<string, number>>;
  readonly byContentType: Readonly<Record<string, number>>;
  readonly images: number;
  readonly uniqueTags: number;
  readonly threads: number;
  readonly mostActive: readonly { readonly threadId: string; readonly count: number }[];
  readonly topTags: readonly TagCount[];
  readonly summaries: number;
  readonly indexed: number;
  /** Number of entries with vectors of the requested model. */
  readonly embedded: number;
  readonly vectors: number;
}

export async function entryStatistics(
  db: Statements,
  { model, ...scope }: ThreadScope & { readonly model: string | undefined },
): Promise<EntryStatistics> {
  const visible = inVisibleThreads(scope, db.dialect);
  const where = allOf([isLive, ...visible]);
  const from = `context_entries o WHERE ${where.sql}`;
  const [sums = {}] = await db.query(
    `SELECT count(*) AS total, coalesce(sum(CASE WHEN o.source = 'user' THEN 1 ELSE 0 END), 0) AS users,
      ${multimodal} AS multimodal, count(DISTINCT o.thread_id) AS threads FROM ${from}`,
    where.values,
  );
  const [total, users, withImages] = [numberOf(sums, 'total'), numberOf(sums, 'users'), numberOf(sums, 'multimodal')];
  const mostActive = await db.query(
    `SELECT o.thread_id, count(*) AS total FROM ${from} GROUP BY o.thread_id ORDER BY total DESC, o.thread_id LIMIT ?`,
    [...where.values, topThreadsMax],
  );
  const tags = await countTags(db, scope);
  const summarised = allOf([isLive, { sql: 'o.summary IS NOT NULL', values: [] }, ...visible]);
  const [stored] = await db.query(`SELECT key FROM vector_models WHERE corpus = 'context' AND name = ?`, [model ?? '']);
  const ofModel = { sql: 'p.model = ?', values: [stored === undefined ? 0 : numberOf(stored, 'key')] };
  const ofVisible = visible.length === 0 ? [] : [ofLiveEntries(db, scope, 'p.owner')];
  const vectorCondition = allOf([ofModel, ...ofVisible]);
  return {
    total,
    bySource: withoutZeros({ user: users, agent: total - users }),
    byContentType: withoutZeros({ text: total - withImages, multimodal: withImages }),
    images: await count(db, 'context_images p', ofLiveEntries(db, scope, 'p.entry')),
    uniqueTags: tags.length,
    threads: numberOf(sums, 'threads'),
    mostActive: mostActive.map((row) => ({ threadId: textOf(row, 'thread_id'), count: numberOf(row, 'total') })),
    topTags: tags.slice(0, topTagsMax),
    summaries: await count(db, 'context_entries o', summarised),
    // The transaction that writes an entry also indexes it.
    indexed: total,
    embedded: stored === undefined ? 0 : total - (await count(db, 'context_unembedded p', vectorCondition)),
    vectors: await count(db, 'context_vectors p', vectorCondition),
  };
}

/** Lists the tags of entries, most common first. */
export async function listTags(db: Statements, request: ThreadScope): Promise<TagCount[]> {
  return (await countTags(db, request)).slice(0, tagsMax);
}

/** Counts the entries with each tag, most common first. */
async function countTags(db: Statements, scope: ThreadScope): Promise<TagCount[]> {
  const { sql, values } = ofLiveEntries(db, scope, 'p.entry');
  const rows = await db.query(
    `SELECT p.tag, count(*) AS total FROM context_tags p WHERE ${sql} GROUP BY p.tag`,
    values,
  );
  return rows
    .map((row) => ({ tag: textOf(row, 'tag'), count: numberOf(row, 'total') }))
    .sort((a, b) => b.count - a.count || (a.tag < b.tag ? -1 : 1));
}

/** Returns the condition that the column `entry` refers to a visible entry that is not removed. */
function ofLiveEntries(db: Statements, scope: ThreadScope, entry: string): SqlFragment {
  const visible = inVisibleThreads(scope, db.dialect);
  // Usually few entries are removed, so it is cheaper to exclude those.
  if (visible.length === 0) {
    return { sql: `${entry} NOT IN (SELECT key FROM context_entries WHERE deleted_at IS NOT NULL)`, values: [] };
  }
  const { sql, values } = allOf([isLive, ...visible]);
  return { sql: `${entry} IN (SELECT o.key FROM context_entries o WHERE ${sql})`, values };
}

async function count(db: Statements, table: string, { sql, values }: SqlFragment): Promise<number> {
  return countRows(db, { sql: `${table} WHERE ${sql}`, values });
}

function withoutZeros(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}
