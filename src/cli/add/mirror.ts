import { statSync } from 'node:fs';
import { sep } from 'node:path';
import { isCarrelError } from '../../base/errors.ts';
import { waitForJob } from '../../engine/wait-for-job.ts';
import { type AddRun, forEachFile, reportOutcome } from './add-all.ts';
import { addFile, hashFile } from './add-files.ts';
import { type FileSelection, type FoundFile, findFiles } from './find-files.ts';
import { type Addition, type MirroredDocument, planMirror } from './plan-mirror.ts';

/** Keeps documents in sync with folders. Every scan compares all files, so a missed file system event does no harm. */
export interface Mirror {
  sync(): Promise<SyncResult>;
  /** Makes the next scan reload the list of documents, which other programs may have changed. */
  forgetDocuments(): void;
}

export interface SyncResult {
  readonly files: number;
  readonly changed: boolean;
  /** True if some files were written just now and may be incomplete, so another scan is needed soon. */
  readonly mayBeIncomplete: boolean;
}

export interface MirrorConfig extends AddRun {
  /** The folders to watch, with symlinks resolved. */
  readonly folders: readonly string[];
  readonly selection: FileSelection;
  readonly collectionTag: string;
}

/** A file that was modified less than this many milliseconds ago may still be changing. */
export const writeGraceMs = 200;

const pageLimit = 100;

export function createMirror(config: MirrorConfig): Mirror {
  const { engine, reporter, folders, signal } = config;
  const identities = new Map(folders.map((folder) => [folder, identityOf(folder)]));
  const hashes = new Map<string, FoundFile & { hash: string }>();
  /** Hashes, by path, of files that the engine rejected or has from another path. They are retried only after a change. */
  const handled = new Map<string, string>();
  let documents: MirroredDocument[] | undefined;
  // An empty folder may be an unmounted disk, so nothing is removed before the first file is seen.
  let hasSeenFiles = false;

  return {
    async sync() {
      documents ??= await readDocuments();
      const present = folders.filter((folder) => identityOf(folder) === identities.get(folder));
      const found = findFiles(present, config.selection);
      const recent = found.files.filter(isRecent);
      const files = await hashAll(found.files.filter((file) => !isRecent(file)));
      hasSeenFiles ||= files.size > 0;
      const unseenPaths = [
        ...folders.filter((folder) => !present.includes(folder)),
        ...found.unreadable,
        ...recent.map(({ path }) => path),
      ];
      const isUnknown = (path: string) => !hasSeenFiles || unseenPaths.some((folder) => isBelow(path, folder));
      const { moves, removals, additions, duplicates } = planMirror(files, documents, isUnknown);
      const toAddAgain: Addition[] = [];
      for (const { document, path, hash } of moves) {
        if (await move(document, path)) handled.delete(path);
        else toAddAgain.push({ path, hash, previous: [] });
      }
      for (const removal of removals) {
        await remove(removal);
        // If another file has the same content, it was reported as a duplicate. It is added now.
        retryContent(removal.hash);
      }
      const pending = [...additions, ...toAddAgain].filter(({ path, hash }) => handled.get(path) !== hash);
      await addFiles(pending, found.files);
      const newDuplicates = duplicates.filter(isNewDuplicate);
      for (const duplicate of newDuplicates) reportDuplicate(duplicate);
      const changed = moves.length > 0 || removals.length > 0 || pending.length > 0 || newDuplicates.length > 0;
      return { files: found.files.length, changed, mayBeIncomplete: recent.length > 0 };
    },
    forgetDocuments() {
      documents = undefined;
      handled.clear();
    },
  };

  async function hashAll(found: readonly FoundFile[]): Promise<Map<string, string>> {
    const files = new Map<string, string>();
    const previous = new Map(hashes);
    hashes.clear();
    for (const file of found) {
      signal.throwIfAborted();
      const cached = previous.get(file.path);
      const hash = cached !== undefined && isSame(cached, file) ? cached.hash : await hashFile(file);
      if (hash === undefined) continue;
      hashes.set(file.path, { ...file, hash });
      files.set(file.path, hash);
    }
    return files;
  }

  async function addFiles(additions: readonly Addition[], found: readonly FoundFile[]): Promise<void> {
    const byPath = new Map(found.map((file) => [file.path, file]));
    const files = additions.flatMap((addition) => {
      const file = byPath.get(addition.path);
      return file === undefined ? [] : [{ ...file, addition }];
    });
    await forEachFile(files, reporter, ({ addition, ...file }) => add(addition, file));
    reporter.end();
  }

  async function add({ path, hash, previous }: Addition, file: FoundFile): Promise<void> {
    const [first] = previous;
    const outcome = await addFile(engine, file, { ...config, replaces: first?.id });
    if (outcome.outcome === 'failed') {
      handled.set(path, hash);
      reportOutcome(reporter, file, outcome);
      return;
    }
    if (outcome.outcome === 'duplicate') {
      const owner = await ownerOf(outcome.answer);
      if (owner === undefined || owner.path !== path) {
        handled.set(path, hash);
        reportOutcome(reporter, file, outcome);
        return;
      }
      // The duplicate is this file's own document: the engine reports no hashes, or an interrupted run had added it.
      setDocument({ id: owner.id, path, hash: outcome.hash });
      for (const each of previous) if (each.id !== owner.id) await remove(each);
      return;
    }
    const { documentId, chunks, truncated } = outcome;
    if (documentId !== null) setDocument({ id: documentId, path, hash: outcome.hash });
    if (first === undefined) reportOutcome(reporter, file, outcome);
    else {
      const extra = truncated === undefined ? {} : { truncated };
      reporter.report({ event: 'replaced', path, document_id: documentId, chunks, former_id: first.id, ...extra });
    }
    // An engine that can't replace documents created a new one.
    for (const each of previous) if (each.id !== documentId) await deleteDocument(each);
  }

  function retryContent(contentHash: string | null): void {
    for (const [path, hash] of handled) if (hash === contentHash) handled.delete(path);
  }

  function isNewDuplicate({ path, hash }: { path: string; hash: string }): boolean {
    return handled.get(path) !== hash;
  }

  function reportDuplicate({ path, hash }: { path: string; hash: string }): void {
    handled.set(path, hash);
    const owner = documents?.find((document) => document.hash === hash);
    reporter.report({
      event: 'duplicate',
      path,
      ...(owner === undefined ? {} : { document_id: owner.id }),
      title: null,
    });
  }

  function setDocument(document: MirroredDocument): void {
    documents = [...(documents ?? []).filter(({ id }) => id !== document.id), document];
  }

  async function ownerOf(answer: { document_id?: number; job_id?: number | string }) {
    let id = answer.document_id;
    if (id === undefined && answer.job_id !== undefined) {
      id = (await waitForJob(engine, answer.job_id, signal)).document_id ?? undefined;
    }
    if (id === undefined) return undefined;
    const { source_path: path } = await engine.documentWithoutChunks(id, { signal });
    return { id, path };
  }

  /** Returns false if the file must be added again: the document is gone, or the engine can't move it. */
  async function move(document: MirroredDocument, path: string): Promise<boolean> {
    try {
      await engine.moveDocument(document.id, path, { signal });
    } catch (error) {
      if (!isCarrelError(error) || error.kind !== 'not_found') throw error;
      await deleteDocument(document);
      return false;
    }
    setDocument({ ...document, path });
    reporter.report({ event: 'moved', path, from: document.path, document_id: document.id });
    return true;
  }

  async function remove(document: MirroredDocument): Promise<void> {
    if (await deleteDocument(document)) {
      reporter.report({ event: 'removed', path: document.path, document_id: document.id });
    }
  }

  /** Deletes the document. Returns false if somebody else has already deleted it. */
  async function deleteDocument({ id }: MirroredDocument): Promise<boolean> {
    let isGone = false;
    try {
      await engine.deleteDocument(id, { signal });
    } catch (error) {
      if (!isCarrelError(error) || error.kind !== 'not_found') throw error;
      isGone = true;
    }
    documents = documents?.filter((document) => document.id !== id);
    return !isGone;
  }

  async function readDocuments(): Promise<MirroredDocument[]> {
    const read = new Map<number, MirroredDocument>();
    for (let offset = 0; ; offset += pageLimit) {
      const page = await engine.documents({ tags: [config.collectionTag], limit: pageLimit, offset }, { signal });
      for (const { id, source_path: path, content_hash: hash } of page.documents) {
        if (path !== null && folders.some((folder) => isBelow(path, folder))) read.set(id, { id, path, hash });
      }
      if (page.documents.length === 0 || offset + pageLimit >= page.total) return [...read.values()];
    }
  }
}

/** Returns device and inode, which reveal another disk mounted at the same path. Undefined if the folder is missing. */
function identityOf(folder: string): string | undefined {
  const stats = statSync(folder, { throwIfNoEntry: false });
  return stats?.isDirectory() ? `${stats.dev}:${stats.ino}` : undefined;
}

/** True for a file modified just now. Files dated in the future don't count as recent. */
function isRecent({ modifiedMs }: FoundFile): boolean {
  const age = Date.now() - modifiedMs;
  return age >= 0 && age < writeGraceMs;
}

function isSame(a: FoundFile, b: FoundFile): boolean {
  return a.size === b.size && a.modifiedMs === b.modifiedMs && a.inode === b.inode;
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}
