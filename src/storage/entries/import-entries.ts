import { isObject } from '../../base/json.ts';
import { textHash } from '../../base/text-hash.ts';
import type { Statements } from '../dialect.ts';
import { numberOf, textOf } from '../rows.ts';
import { storable } from '../storable.ts';
import { metadataOf, type NewEntry } from './entry.ts';
import { writeFields } from './entry-parts.ts';
import { addEntries, fieldIndex, lockThreads } from './write-entries.ts';

/** An entry to import. Two entries are equal if they have the same thread, source, time and text. */
export interface ImportedEntry extends NewEntry {
  /** The id that the entry had in the database that it was exported from. */
  readonly exportedId?: number | undefined;
  /** Number of equal entries that precede this one in the import. */
  readonly duplicatesBefore: number;
  /** True if the entry came without a time. `createdAt` is then the import time and is ignored in comparisons. */
  readonly hasNoTime: boolean;
}

interface ImportOutcome {
  readonly id: number;
  /** False if the entry already existed. */
  readonly added: boolean;
}

/** Max id that is imported. Generated ids continue after the highest id, so a huge id would use them up. */
const importedIdMax = 1e15;

/**
 * Imports entries that do not exist yet. Existing entries, even removed ones, stay unchanged. An entry keeps its id only if
 * this database has never used an id as high, because no id may ever refer to two entries.
 */
export async function importEntries(
  db: Statements,
  { entries }: { readonly entries: readonly ImportedEntry[] },
): Promise<ImportOutcome[]> {
  const { keys } = db.dialect;
  const hasMetadata = entries.some(({ metadata }) => metadata !== undefined);
  const index = await fieldIndex(db, hasMetadata);
  const threads = entries.map(({ threadId }) => storable(threadId));
  await lockThreads(db, threads);
  let highest = await keys.highest(db, 'context_entries');
  const existing = await equalEntries(db, entries);
  const added: { entry: ImportedEntry; id: number }[] = [];
  const outcomes = entries.map((entry) => {
    const same = existing.get(identityOf(entry))?.[entry.duplicatesBefore];
    if (same !== undefined) return { id: same, added: false };
    const { exportedId = 0 } = entry;
    highest = exportedId > highest && exportedId <= importedIdMax ? exportedId : highest + 1;
    added.push({ entry, id: highest });
    return { id: highest, added: true };
  });
  if (added.length > 0) {
    const [fresh, ids] = [added.map(({ entry }) => entry), added.map(({ id }) => id)];
    await addEntries(db, fresh, index, ids);
    await keys.advance(db, 'context_entries', highest);
  }
  return outcomes;
}

/** Finds the stored entries that equal the imported ones. Returns their ids, ascending, by identity. */
async function equalEntries(db: Statements, entries: readonly ImportedEntry[]): Promise<Map<string, number[]>> {
  const { texts } = db.dialect;
  const timeless = entries.filter(({ hasNoTime }) => hasNoTime);
  const timed = entries.filter(({ hasNoTime }) => !hasNoTime);
  const lookups = [
    { column: 'created_at', imported: timed, values: timed.map(({ createdAt = '' }) => createdAt) },
    { column: 'text_hash', imported: timeless, values: timeless.map(hashOf) },
  ];
  const idsByIdentity = new Map<string, number[]>();
  for (const { column, imported, values } of lookups) {
    if (imported.length === 0) continue;
    const threads = new Set(imported.map(({ threadId }) => storable(threadId)));
    // Two SELECTs, because live and removed entries are in different indexes.
    const select = (state: string) => `SELECT key, thread_id, source, created_at, text_hash
      FROM context_entries WHERE deleted_at ${state} AND thread_id IN (${texts}) AND ${column} IN (${texts})`;
    const bound = [{ list: [...threads] }, { list: [...new Set(values)] }];
    const sql = `${select('IS NULL')} UNION ALL ${select('IS NOT NULL')} ORDER BY key`;
    for (const row of await db.query(sql, [...bound, ...bound])) {
      const time = column === 'created_at' ? textOf(row, 'created_at') : '';
      const identity = [textOf(row, 'thread_id'), textOf(row, 'source'), time, textOf(row, 'text_hash')].join('\n');
      idsByIdentity.set(identity, [...(idsByIdentity.get(identity) ?? []), numberOf(row, 'key')]);
    }
  }
  return idsByIdentity;
}

function identityOf(entry: ImportedEntry): string {
  const time = entry.hasNoTime ? '' : (entry.createdAt ?? '');
  return [storable(entry.threadId), entry.source, time, hashOf(entry)].join('\n');
}

function hashOf({ text }: ImportedEntry): string {
  return textHash(storable(text));
}

/** The entries that an entry refers to, and the entry that it replaces. */
export interface References {
  readonly context_ids?: readonly unknown[];
  readonly replaces?: number;
}

/** Changes ids in the `references` of an entry's metadata. */
interface ReferenceChange {
  readonly id: number;
  readonly from: References;
  readonly to: References;
}

/**
 * Replaces ids in `references` with the ids of the imported entries. Does not change times and history. Skips references that were
 * changed meanwhile. Returns the number of changed entries.
 */
export async function changeReferences(
  db: Statements,
  { changes }: { readonly changes: readonly ReferenceChange[] },
): Promise<number> {
  const index = await fieldIndex(db, changes.length > 0);
  let count = 0;
  for (const { id, from, to } of changes) {
    const [row] = await db.query(`SELECT metadata FROM context_entries WHERE key = ? ${db.dialect.forUpdate}`, [id]);
    const metadata = row && metadataOf(row);
    const references = metadata?.['references'];
    if (!isObject(references)) continue;
    const isSame = Object.entries(from).every(([key, ids]) => JSON.stringify(references[key]) === JSON.stringify(ids));
    if (!isSame) continue;
    const changed = { ...metadata, references: { ...references, ...to } };
    await db.query('UPDATE context_entries SET metadata = ? WHERE key = ?', [JSON.stringify(changed), id]);
    await writeFields(db, id, changed, index);
    count += 1;
  }
  return count;
}
