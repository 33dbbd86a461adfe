import { isObject } from '../../base/json.ts';
import { textHash } from '../../base/text-hash.ts';
import type { Statements } from '../dialect.ts';
import { numberOf, textOf } from '../rows.ts';
import { storable } from '../storable.ts';
import { metadataOf, type NewEntry } from './entry.ts';
import { writeFields } from './entry-parts.ts';
import { lockThreads } from './thread-counts.ts';
import { addEntries, fieldIndex } from './write-entries.ts';

/** Entries of the same thread, source, time and text are equal. */
export interface ImportedEntry extends NewEntry {
  /** Its id at the source. */
  readonly wantedId?: number | undefined;
  /** Number of equal entries before it in the import. */
  readonly equalsBefore: number;
  /** createdAt is the import time; ignored when matching. */
  readonly hasNoTime: boolean;
}

interface ImportOutcome {
  readonly id: number;
  /** False: it already existed. */
  readonly added: boolean;
}

/** Max imported id. Generated ids follow the highest, so a huge one would use them up. */
const keptIdMax = 1e15;

/**
 * Imports entries, each once: an existing one, removed or not, is left alone. An entry keeps its id if no entry here ever had
 * it or a higher one, so that an id never means two entries.
 */
export async function importEntries(
  on: Statements,
  { entries }: { readonly entries: readonly ImportedEntry[] },
): Promise<ImportOutcome[]> {
  const { keys } = on.dialect;
  const hasMetadata = entries.some(({ metadata }) => metadata !== undefined);
  const index = await fieldIndex(on, hasMetadata);
  const threads = entries.map(({ threadId }) => storable(threadId));
  await lockThreads(on, threads);
  let highest = await keys.highest(on, 'context_entries');
  const known = await equalEntries(on, entries);
  const added: { entry: ImportedEntry; id: number }[] = [];
  const outcomes = entries.map((entry) => {
    const same = known.get(identityOf(entry))?.[entry.equalsBefore];
    if (same !== undefined) return { id: same, added: false };
    const { wantedId = 0 } = entry;
    highest = wantedId > highest && wantedId <= keptIdMax ? wantedId : highest + 1;
    added.push({ entry, id: highest });
    return { id: highest, added: true };
  });
  if (added.length > 0) {
    const [fresh, ids] = [added.map(({ entry }) => entry), added.map(({ id }) => id)];
    await addEntries(on, fresh, index, ids);
    await keys.advance(on, 'context_entries', highest);
  }
  return outcomes;
}

/** Ids of equal entries, ascending, by identity. */
async function equalEntries(on: Statements, entries: readonly ImportedEntry[]): Promise<Map<string, number[]>> {
  const { schema, texts } = on.dialect;
  const [timeless = [], timed = []] = [true, false].map((is) => entries.filter((entry) => entry.hasNoTime === is));
  const lookups = [
    { column: 'created_at', some: timed, wanted: timed.map(({ createdAt = '' }) => createdAt) },
    { column: 'text_hash', some: timeless, wanted: timeless.map(hashOf) },
  ];
  const found = new Map<string, number[]>();
  for (const { column, some, wanted } of lookups) {
    if (some.length === 0) continue;
    const threads = new Set(some.map(({ threadId }) => storable(threadId)));
    // Live and removed entries are in different indexes.
    const select = (state: string) => `SELECT key, thread_id, source, created_at, text_hash
      FROM ${schema}context_entries WHERE deleted_at ${state} AND thread_id IN (${texts}) AND ${column} IN (${texts})`;
    const values = [{ list: [...threads] }, { list: [...new Set(wanted)] }];
    const sql = `${select('IS NULL')} UNION ALL ${select('IS NOT NULL')} ORDER BY key`;
    for (const row of await on.query(sql, [...values, ...values])) {
      const time = column === 'created_at' ? textOf(row, 'created_at') : '';
      const identity = [textOf(row, 'thread_id'), textOf(row, 'source'), time, textOf(row, 'text_hash')].join('\n');
      found.set(identity, [...(found.get(identity) ?? []), numberOf(row, 'key')]);
    }
  }
  return found;
}

function identityOf(entry: ImportedEntry): string {
  const time = entry.hasNoTime ? '' : (entry.createdAt ?? '');
  return [storable(entry.threadId), entry.source, time, hashOf(entry)].join('\n');
}

function hashOf({ text }: ImportedEntry): string {
  return textHash(storable(text));
}

/** Entries that an entry refers to, and the one that it replaces. */
export interface References {
  readonly context_ids?: readonly unknown[];
  readonly replaces?: number;
}

/** A change of ids in `references` of an entry's metadata. */
interface ReferenceChange {
  readonly id: number;
  readonly from: References;
  readonly to: References;
}

/**
 * Rewrites the ids in `references` to the entries' ids here, without changing time or history. References that have changed
 * since are left alone. Returns how many were changed.
 */
export async function changeReferences(
  on: Statements,
  { changes }: { readonly changes: readonly ReferenceChange[] },
): Promise<number> {
  const index = await fieldIndex(on, changes.length > 0);
  let count = 0;
  for (const { id, from, to } of changes) {
    const [row] = await on.query(
      `SELECT metadata FROM ${on.dialect.schema}context_entries WHERE key = ? ${on.dialect.forUpdate}`,
      [id],
    );
    const metadata = row && metadataOf(row);
    const references = metadata?.['references'];
    if (!isObject(references)) continue;
    const isSame = Object.entries(from).every(([key, ids]) => JSON.stringify(references[key]) === JSON.stringify(ids));
    if (!isSame) continue;
    const changed = { ...metadata, references: { ...references, ...to } };
    await on.query(`UPDATE ${on.dialect.schema}context_entries SET metadata = ? WHERE key = ?`, [
      JSON.stringify(changed),
      id,
    ]);
    await writeFields(on, id, changed, index);
    count += 1;
  }
  return count;
}
