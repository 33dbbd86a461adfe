import { createHash } from 'node:crypto';
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { byteOrderMark } from '../../../base/byte-order-mark.ts';
import { CarrelError } from '../../../base/errors.ts';
import { isObject } from '../../../base/json.ts';
import type { Metadata, NewEntry } from '../../../storage/entries/entry.ts';
import type { EntryStore } from '../../../storage/entries/entry-store.ts';
import type { ImportedEntry, References } from '../../../storage/entries/import-entries.ts';
import { summaryCharsMin } from '../context-slice.ts';
import { replacedIdOf } from '../replaced-entries.ts';
import { entriesOfChats, isChatExport } from './chat-export.ts';
import type { ImportItem } from './import-item.ts';
import { entriesOfLines, unsupportedFormat } from './line-file.ts';
import { entriesOfOriginal } from './original-server.ts';

const batchSize = 100;

export interface ImportReport {
  readonly added: number;
  /** Number of entries that were already present and left alone. */
  readonly present: number;
  readonly skipped: readonly { readonly place: string; readonly reason: string }[];
  /** Maps ids in the file to new ids, if they differ. */
  readonly newIds: ReadonlyMap<number, number>;
  /** Number of entries whose references were updated to the new ids. */
  readonly rewritten: number;
}

/**
 * Imports a file of any supported format: Carrel's export, a database of mcp-context-server, a file of the reference
 * memory server, or a chat export. Existing entries are left alone, so an interrupted import can be repeated. Invalid
 * entries are reported, and all others are imported.
 */
export async function importEntries(entries: EntryStore, path: string, now: string): Promise<ImportReport> {
  const skipped: { place: string; reason: string }[] = [];
  const newIds = new Map<number, number>();
  const withReferences: { id: number; from: References }[] = [];
  const identityCounts = new Map<string, number>();
  let [added, present] = [0, 0];
  let batch: ImportedEntry[] = [];
  const write = async () => {
    const outcomes = batch.length === 0 ? [] : await entries.import({ entries: batch });
    for (const [index, { id, added: isNew }] of outcomes.entries()) {
      const { exportedId, metadata } = batch[index] ?? {};
      if (isNew) added += 1;
      else present += 1;
      if (exportedId !== undefined && exportedId !== id) newIds.set(exportedId, id);
      const from = exportedId === undefined ? {} : referencesOf(metadata);
      if (Object.keys(from).length > 0) withReferences.push({ id, from });
    }
    batch = [];
  };
  for await (const item of entriesOfFile(path, now)) {
    if ('reason' in item) {
      skipped.push(item);
      continue;
    }
    const { entry, id: exportedId, hasNoTime = false } = item;
    const identity = identityOf(entry, hasNoTime);
    const duplicatesBefore = identityCounts.get(identity) ?? 0;
    identityCounts.set(identity, duplicatesBefore + 1);
    const needsSummary = entry.summary === undefined && entry.text.length >= summaryCharsMin;
    batch.push({ ...entry, needsSummary, exportedId, duplicatesBefore, hasNoTime });
    if (batch.length >= batchSize) await write();
  }
  await write();
  const [first] = skipped;
  if (added + present === 0 && first !== undefined) throw nothingImported(first, skipped.length);
  return { added, present, skipped, newIds, rewritten: await changeReferences(entries, withReferences, newIds) };
}

/** Updates references to entries that got new ids. Runs last, because an entry may refer to a later one. */
async function changeReferences(
  entries: EntryStore,
  withReferences: readonly { id: number; from: References }[],
  newIds: ReadonlyMap<number, number>,
): Promise<number> {
  const newIdOf = <Id>(id: Id) => (typeof id === 'number' ? (newIds.get(id) ?? id) : id);
  const withNewIds = ({ context_ids: ids, replaces }: References): References => ({
    ...(ids === undefined ? {} : { context_ids: ids.map(newIdOf) }),
    ...(replaces === undefined ? {} : { replaces: newIdOf(replaces) }),
  });
  const changes = withReferences
    .map(({ id, from }) => ({ id, from, to: withNewIds(from) }))
    .filter(({ from, to }) => JSON.stringify(from) !== JSON.stringify(to));
  let rewritten = 0;
  for (let at = 0; at < changes.length; at += batchSize) {
    rewritten += await entries.changeReferences({ changes: changes.slice(at, at + batchSize) });
  }
  return rewritten;
}

/**
 * Returns an entry's references, as agents of mcp-context-server write them: related entries and the replaced entry.
 */
function referencesOf(metadata: Metadata | undefined): References {
  const references = metadata?.['references'];
  const ids = isObject(references) ? references['context_ids'] : undefined;
  const replaces = replacedIdOf(metadata);
  return {
    ...(Array.isArray(ids) && ids.length > 0 ? { context_ids: ids } : {}),
    ...(replaces === undefined ? {} : { replaces }),
  };
}

/** Returns a hash of the entry. The import counts entries with the same hash, to tell them apart. */
function identityOf({ threadId, source, createdAt = '', text }: NewEntry, hasNoTime: boolean): string {
  return createHash('sha256')
    .update([threadId, source, hasNoTime ? '' : createdAt, text].join('\n'))
    .digest('base64');
}

async function* entriesOfFile(path: string, now: string): AsyncGenerator<ImportItem> {
  const start = firstBytes(path);
  if (start.startsWith('SQLite format 3\0')) yield* entriesOfOriginal(path);
  else if (start.replace(byteOrderMark, '').trimStart().startsWith('[')) {
    const parsed = parse(readFileSync(path, 'utf8').replace(byteOrderMark, ''));
    if (!isChatExport(parsed)) throw unsupportedFormat();
    yield* entriesOfChats(parsed);
  } else yield* entriesOfLines(path, now);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw unsupportedFormat(error);
  }
}

function nothingImported({ place, reason }: { place: string; reason: string }, count: number): CarrelError {
  const moreErrors = count > 1 ? ` ${count - 1} more entries fail for similar reasons.` : '';
  return new CarrelError(
    'invalid_import',
    `No entry can be imported. The first error, in ${place}: ${reason}.${moreErrors}`,
  );
}

function firstBytes(path: string): string {
  const buffer = Buffer.alloc(64);
  const file = openSync(path, 'r');
  try {
    return buffer.toString('utf8', 0, readSync(file, buffer));
  } finally {
    closeSync(file);
  }
}
