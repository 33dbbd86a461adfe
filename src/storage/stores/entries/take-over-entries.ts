import { isObject } from '../../../base/json.ts';
import { textHash } from '../../../base/text-hash.ts';
import type { ReferenceChange, TakenOverEntry, TakeOverOutcome, TakeOverRequest } from '../../contracts/entries.ts';
import type { Statements } from '../../dialect.ts';
import { numberOf, optionalTextOf, type Row, textOf } from '../../rows.ts';
import { storable } from '../../storable.ts';
import { writeFields } from './entry-parts.ts';
import { parseMetadata } from './metadata-fields.ts';
import { lockThreads } from './thread-locks.ts';
import { type Added, fieldIndex, insertEntry, writeParts } from './write-entries.ts';

/** Generated ids follow the highest: a file that names one near the end of all integers must not use them up. */
const keptIdMax = 1e15;

/**
 * Adds entries that come from elsewhere, each once: one that is here already, removed or not, is left alone. An entry keeps
 * its id if nothing here ever had it or a higher one, so that an id never means two entries.
 */
export async function takeOverEntries(on: Statements, { entries }: TakeOverRequest): Promise<TakeOverOutcome[]> {
  const { keys } = on.dialect;
  const index = await fieldIndex(
    on,
    entries.some(({ metadata }) => metadata !== undefined),
  );
  const threads = entries.map(({ threadId }) => storable(threadId));
  await lockThreads(on, threads, 'exclusive');
  let highest = await keys.highest(on, 'context_entries');
  let advanced = highest;
  const known = await equalEntries(on, entries);
  const added: Added[] = [];
  const outcomes: TakeOverOutcome[] = [];
  for (const entry of entries) {
    const same = known.get(identityOf(entry))?.[entry.equalsBefore];
    if (same !== undefined) {
      outcomes.push({ id: same, added: false });
      continue;
    }
    const { wantedId = 0 } = entry;
    const key = wantedId > highest && wantedId <= keptIdMax ? wantedId : undefined;
    if (key === undefined && advanced < highest) {
      await keys.advance(on, 'context_entries', highest);
      advanced = highest;
    }
    const fresh = await insertEntry(on, entry, key);
    highest = Math.max(highest, fresh.id);
    if (key === undefined) advanced = highest;
    added.push(fresh);
    outcomes.push({ id: fresh.id, added: true });
  }
  if (advanced < highest) await keys.advance(on, 'context_entries', highest);
  await writeParts(on, added, index);
  return outcomes;
}

/** Ids of entries by what makes them equal, ascending. */
async function equalEntries(on: Statements, entries: readonly TakenOverEntry[]): Promise<Map<string, number[]>> {
  const found = new Map<string, number[]>();
  const look = async (some: readonly TakenOverEntry[], column: string, part: (entry: TakenOverEntry) => string) => {
    if (some.length === 0) return;
    const values = [
      { list: [...new Set(some.map(({ threadId }) => storable(threadId)))] },
      { list: [...new Set(some.map(part))] },
    ];
    // Each half has an index of its own.
    const rows: Row[] = [];
    for (const state of ['IS NULL', 'IS NOT NULL']) {
      rows.push(
        ...(await on.query(
          `SELECT key, thread_id, source, created_at, text_hash FROM ${on.dialect.schema}context_entries
            WHERE deleted_at ${state} AND thread_id IN (${on.dialect.texts}) AND ${column} IN (${on.dialect.texts})`,
          values,
        )),
      );
    }
    for (const row of rows.toSorted((a, b) => numberOf(a, 'key') - numberOf(b, 'key'))) {
      const time = column === 'created_at' ? textOf(row, 'created_at') : '';
      const identity = [textOf(row, 'thread_id'), textOf(row, 'source'), time, textOf(row, 'text_hash')].join('\n');
      found.set(identity, [...(found.get(identity) ?? []), numberOf(row, 'key')]);
    }
  };
  const [timeless = [], timed = []] = [true, false].map((is) => entries.filter((entry) => entry.hasNoTime === is));
  await look(timed, 'created_at', ({ createdAt = '' }) => createdAt);
  await look(timeless, 'text_hash', hashOf);
  return found;
}

function identityOf(entry: TakenOverEntry): string {
  const time = entry.hasNoTime ? '' : (entry.createdAt ?? '');
  return [storable(entry.threadId), entry.source, time, hashOf(entry)].join('\n');
}

function hashOf({ text }: TakenOverEntry): string {
  return textHash(storable(text));
}

/**
 * Makes `references.context_ids` name the ids that entries have here. One whose list is not the given one any more was changed
 * before, and is left alone. Neither its time nor its history tells of it. Returns how many were changed.
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
    const stored = row && optionalTextOf(row, 'metadata');
    if (stored === undefined) continue;
    const metadata = parseMetadata(stored);
    const { references } = metadata;
    if (!isObject(references) || JSON.stringify(references['context_ids']) !== JSON.stringify(from)) continue;
    const changed = { ...metadata, references: { ...references, context_ids: to } };
    await on.query(`UPDATE ${on.dialect.schema}context_entries SET metadata = ? WHERE key = ?`, [
      JSON.stringify(changed),
      id,
    ]);
    await writeFields(on, id, changed, index);
    count += 1;
  }
  return count;
}
