import type {
  BulkAction,
  BulkChange,
  BulkRequest,
  RemovedDocument,
  StoredDocument,
  TagsRequest,
} from '../../contracts/documents.ts';
import { storable } from '../../contracts/notes.ts';
import { numberOf } from '../../statements.ts';
import { lock } from '../entries/idempotency.ts';
import { query } from '../entries/work.ts';
import { createAudit } from './audit.ts';
import { documentsOf } from './document-rows.ts';
import { type DocumentDialect, type DocumentWork, labelsOf, parentOf, tablesOf } from './document-work.ts';
import { selectionCondition } from './selection.ts';

export interface DocumentChanges {
  remove(request: { id: number }, now: string): DocumentWork<RemovedDocument | undefined>;
  changeTags(request: TagsRequest, now: string): DocumentWork<StoredDocument | 'tags_full' | undefined>;
  changeMany(request: BulkRequest, now: string): DocumentWork<BulkChange>;
  releaseOriginals(request: { hashes: readonly string[] }, now: string): DocumentWork<number>;
}

export function createDocumentChanges(dialect: DocumentDialect): DocumentChanges {
  const { documents, tags, jobs } = tablesOf(dialect);
  const audit = createAudit(dialect);

  return {
    *remove({ id }, now) {
      const [document] = yield* lockedByIds([id]);
      if (document === undefined) return undefined;
      yield* removeAll([id]);
      yield* audit({ kind: 'delete', document, chunkCount: document.chunkCount, details: {} }, now);
      return { id, title: document.title, contentHash: document.contentHash };
    },
    *changeTags({ id, add, remove, tagsMax }, now) {
      const [document] = yield* lockedByIds([id]);
      if (document === undefined) return undefined;
      const wanted = changedTags(document.tags, { kind: 'tags', add, remove });
      if (wanted.length > tagsMax) return 'tags_full';
      if (!isSame(wanted, document.tags)) yield* writeTags(document, wanted, now);
      yield* audit({ kind: 'tags', document, details: { add, remove } }, now);
      const [changed] = yield* byIds([id]);
      return changed;
    },
    *changeMany({ selection, action, percentMax, tagsMax }, now) {
      const { sql, values } = selectionCondition(selection, dialect);
      const rows = yield* query(
        `SELECT o.* FROM ${documents} o WHERE ${sql} ORDER BY o.key ${dialect.forUpdate}`,
        ...values,
      );
      const matched = yield* documentsOf(rows, dialect);
      const [count = {}] = yield* query(`SELECT count(*) AS total FROM ${documents}`);
      const total = numberOf(count, 'total');
      const percent = total === 0 ? 0 : (100 * matched.length) / total;
      if (percent > percentMax) return { outcome: 'too_many', matched: matched.length, total, percent };
      const changed = yield* perform(matched, action, tagsMax, now);
      if (typeof changed !== 'number') return changed;
      const { kind, ...given } = action;
      const details = { ...given, selection, matched: matched.length, changed };
      const jobId = yield* audit({ kind: `bulk_${kind}`, details }, now);
      const contentHashes = kind === 'delete' ? matched.map(({ contentHash }) => contentHash) : [];
      return { outcome: 'changed', matched: matched.length, total, changed, jobId, contentHashes };
    },
    *releaseOriginals({ hashes }) {
      let released = 0;
      for (const hash of hashes) {
        yield* lock(`kb content ${hash}`, dialect);
        const [used] = yield* query(
          `SELECT 1 AS used WHERE EXISTS (SELECT 1 FROM ${documents} WHERE content_hash = ?)
             OR EXISTS (SELECT 1 FROM ${jobs} WHERE content_hash = ? AND kind = 'ingest' AND status IN ('queued', 'processing'))`,
          ...[hash, hash],
        );
        if (used !== undefined) continue;
        yield (engine) => engine.removeOriginal(hash);
        released += 1;
      }
      return released;
    },
  };

  function* perform(
    matched: readonly StoredDocument[],
    action: BulkAction,
    tagsMax: number,
    now: string,
  ): DocumentWork<number | Extract<BulkChange, { outcome: 'tags_full' }>> {
    if (action.kind === 'delete') {
      yield* removeAll(matched.map(({ id }) => id));
      return matched.length;
    }
    const changes = matched
      .map((document) => ({ document, wanted: changedTags(document.tags, action) }))
      .filter(({ document, wanted }) => !isSame(wanted, document.tags));
    const full = changes.find(({ wanted }) => wanted.length > tagsMax);
    if (full !== undefined) return { outcome: 'tags_full', id: full.document.id };
    for (const { document, wanted } of changes) yield* writeTags(document, wanted, now);
    return changes.length;
  }

  function* removeAll(ids: readonly number[]): DocumentWork<void> {
    yield (engine) => engine.removePassages(ids.map(parentOf));
    yield* query(`DELETE FROM ${documents} WHERE key IN (${dialect.integers})`, { list: ids });
  }

  function* writeTags({ id, docType }: StoredDocument, wanted: readonly string[], now: string): DocumentWork<void> {
    yield* query(`DELETE FROM ${tags} WHERE document = ?`, id);
    for (const [position, tag] of wanted.entries()) {
      yield* query(`INSERT INTO ${tags} (document, tag, position) VALUES (?, ?, ?)`, id, tag, position);
    }
    yield* query(`UPDATE ${documents} SET updated_at = ? WHERE key = ?`, now, id);
    yield (engine) => engine.labelPassages([parentOf(id)], labelsOf(docType, wanted));
  }

  function* byIds(ids: readonly number[]): DocumentWork<StoredDocument[]> {
    const rows = yield* query(`SELECT * FROM ${documents} WHERE key IN (${dialect.integers})`, { list: ids });
    return yield* documentsOf(rows, dialect);
  }

  function* lockedByIds(ids: readonly number[]): DocumentWork<StoredDocument[]> {
    const rows = yield* query(`SELECT * FROM ${documents} WHERE key IN (${dialect.integers}) ${dialect.forUpdate}`, {
      list: ids,
    });
    return yield* documentsOf(rows, dialect);
  }
}

function changedTags(before: readonly string[], action: Exclude<BulkAction, { kind: 'delete' }>): string[] {
  if (action.kind === 'set_tags') return [...new Set(action.tags.map(storable))];
  const gone = new Set(action.remove.map(storable));
  return [...new Set([...before.filter((tag) => !gone.has(tag)), ...action.add.map(storable)])];
}

function isSame(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((tag, index) => tag === right[index]);
}
