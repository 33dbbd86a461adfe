import { Readable } from 'node:stream';
import { CarrelError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { version } from '../../base/package-info.ts';
import { createSlots } from '../../base/slots.ts';
import type { Extractor } from '../../documents/extractor.ts';
import { createDurableQueue, type DurableQueue } from '../../jobs/durable-queue.ts';
import { createLeaseOwner, hasExited } from '../../jobs/lease-owner.ts';
import { createChunker } from '../../search/chunking/chunker.ts';
import type { EmbeddingProvider } from '../../search/models/embedding-provider.ts';
import { rerankerWithoutModel } from '../../search/rerank/open-reranker.ts';
import { type Reranker, withoutModel } from '../../search/rerank/reranker.ts';
import type { StoredDocument } from '../../storage/documents/document.ts';
import type { ClaimedJob } from '../../storage/documents/job-queue.ts';
import type { PhaseProgress, StoredJob } from '../../storage/documents/jobs.ts';
import type { Storage } from '../../storage/storage.ts';
import type { ReadOptions } from '../../storage/transactions.ts';
import {
  documentNotFound,
  invalidInput,
  jobNotFound,
  readDocType,
  readFilename,
  readJobsRequest,
  readPage,
  readQueryWords,
  readSourcePath,
  readTags,
  tagsMax,
} from '../contract/validate-input.ts';
import type { EngineDocument, EngineFile, EngineJob, JobId } from '../engine.ts';
import type { EngineRole, EngineSettings } from '../engine-slice.ts';
import { createBulkChanges } from './bulk-changes.ts';
import { createChunkEmbedding } from './chunk-embedding.ts';
import { ingest } from './ingest.ts';
import { pruneDeleted, startPruning } from './prune.ts';
import { readDocument } from './read-document.ts';
import { renderDeleted, renderDocument, renderJob, renderRoles } from './render.ts';
import { scopedEngine } from './scoped-engine.ts';
import { searchDocuments, searchOf } from './search-documents.ts';
import { boundsOf, createSubmitMethods, type LocalEngine } from './submit.ts';
import { updateNote } from './update-note.ts';

export interface EngineDeps {
  readonly storage: Storage;
  readonly extractor: Extractor;
  readonly embeddings: EmbeddingProvider | undefined;
  readonly previousEmbeddings?: ((model: string) => Promise<EmbeddingProvider | undefined>) | undefined;
  readonly reranker?: Reranker | undefined;
  readonly log: Logger;
  /** Releases the engine's dependencies. Called when the engine no longer uses them. */
  readonly close?: () => Promise<void>;
}

const embeddingUnavailable = 'The embedding provider does not answer: new documents are found by keyword only.';

const leaseMs = 30_000;
const pollMs = 2_000;

/** How long slow files may occupy all workers before an extra worker takes a small one. */
const quickJobAfterMs = 5_000;
const quickBytesMax = 256 * 1024;

/** Delay before unfinished work of earlier processes continues, so that it does not slow down the first answers. */
const backlogDelayMs = 500;

/** Creates an engine in this process. Several engines, also in other processes, may share one queue. */
export function createEngine(settings: EngineSettings, deps: EngineDeps): LocalEngine {
  const { storage, log, reranker = rerankerWithoutModel() } = deps;
  const { documents, ingestion, originals } = storage;
  const hasRole = (role: EngineRole): boolean => settings.roles.includes(role);
  const owner = createLeaseOwner();
  const chunker = createChunker();
  const longTexts = createSlots({ runningMax: 1, waitingMax: settings.workers });
  const embedding = createChunkEmbedding({ ...deps, embeds: hasRole('embed') });
  const liveProgress = new Map<number, PhaseProgress>();
  const queue = hasRole('ingest') ? createQueue() : notifyingQueue(storage);
  const submitMethods = createSubmitMethods(settings, { storage, onAccepted: () => queue.wake() });
  const bulkMethods = createBulkChanges(settings, { storage });
  let isClosed = false;
  let pruning: ReturnType<typeof startPruning> | undefined;
  const stopListening = storage.shared?.onNotice((notice) => {
    // Another process cancelled the job. Without this notice, the work would continue until the next renewal of the lease.
    if (notice.about === 'job') queue.abort(Number(notice.id));
    if (notice.about === 'work' && hasRole('ingest')) queue.wake();
    if (notice.about === 'work' && hasRole('embed')) embedding.wake();
  });
  const backlog = setTimeout(() => {
    embedding.wake();
    originals.sweep().catch((error: unknown) => {
      // A short command may close the database meanwhile; the next process removes the files.
      if (!isClosed) log.incident('could not remove unused files', error);
    });
    pruning = startPruning(settings, storage, log);
  }, backlogDelayMs).unref();

  const engine: LocalEngine = {
    async status(options = {}) {
      const { scopedTo: anyTags } = options;
      const [{ bytes, ...counts }, jobs, described, unembedded] = await Promise.all([
        documents.counts({ anyTags }, options),
        ingestion.counts({ anyTags }, options),
        storage.describe(),
        embedding.pending(options),
      ]);
      const { queued, processing, done, failed } = jobs;
      return {
        version,
        model: embedding.model,
        device: embedding.device,
        ...renderRoles(settings.roles),
        ...counts,
        unembedded,
        ...(embedding.isAvailable ? {} : { degraded: embeddingUnavailable }),
        queue: { queued, processing, done, failed },
        storage: {
          backend: described.backend,
          bytes: anyTags ? bytes : described.bytes,
          keeps_deleted: settings.deletedBytesMax > 0,
        },
      };
    },
    async search(request, options) {
      if (!hasRole('search')) throw searchRoleMissing();
      const models = options?.wordsOnly
        ? { meaning: undefined, reranker: withoutModel(reranker) }
        : { meaning: embedding.meaning, reranker };
      return searchDocuments(searchOf(request, settings, options), { storage, ...models });
    },
    ...submitMethods,
    async jobs(request, options) {
      const selection = readJobsRequest(request);
      if (selection === undefined) return { jobs: [], total: 0 };
      const { jobs, total } = await ingestion.list({ ...selection, anyTags: options?.scopedTo }, options);
      return { jobs: await renderJobs(jobs, options), total };
    },
    async job(id, options) {
      const job = await ingestion.get({ id: jobKey(id) }, options);
      if (job === undefined) throw jobNotFound();
      const [rendered] = await renderJobs([job], options);
      return rendered ?? renderJob(job, undefined);
    },
    async cancelJob(id) {
      const job = await ingestion.cancel({ id: jobKey(id) });
      if (job === undefined) throw jobNotFound();
      queue.abort(job.id);
      storage.shared?.notify({ about: 'job', id: String(job.id) });
      if (job.status === 'cancelled' && job.contentHash !== undefined) await originals.release([job.contentHash]);
      return renderJob(job, undefined);
    },
    async documents({ type, tags, source_path: sourcePath, query, sort, ...page }, options) {
      const selection = {
        docType: readDocType(type),
        tags: tags && readTags(tags),
        anyTags: options?.scopedTo,
        sourcePath: readSourcePath(sourcePath),
        named: readQueryWords(query),
      };
      const found = await documents.list({ selection, sort, ...readPage(page) }, options);
      return { documents: await renderDocuments(found.documents, options), total: found.total };
    },
    document: (id, options) => readDocument(id, options, { documents, embedding }),
    async documentWithoutChunks(id, options) {
      const document = await documents.get({ id }, options);
      if (document === undefined) throw documentNotFound(id);
      return renderDocument(document);
    },
    file,
    async deleteDocument(id) {
      const removed = await documents.remove({ id, restorable: settings.deletedBytesMax > 0 });
      if (removed === undefined) throw documentNotFound(id);
      await originals.release([removed.contentHash]);
      await pruneDeleted(settings, storage);
      return { status: 'deleted', document_id: removed.id, title: removed.title };
    },
    async restoreDocument(id, options) {
      const restored = await documents.restore({ id, anyTags: options?.scopedTo });
      switch (restored.outcome) {
        case 'accepted':
          queue.wake();
          return { status: 'queued', document_id: id, title: restored.job.title ?? '', job_id: restored.job.id };
        case 'known_job':
          return { status: 'queued', document_id: id, title: restored.title ?? '', job_id: restored.id };
        case 'known_document':
          throw new CarrelError('duplicate', `Document ${restored.id} already has the same content.`, {
            data: { document_id: restored.id, title: restored.title },
          });
        case 'not_found':
          throw new CarrelError(
            'document_not_found',
            `Document ${id} was not deleted, or was deleted too long ago to restore.`,
            { data: { document_id: id } },
          );
      }
    },
    maintenance: {
      async deletedDocuments(request, options) {
        const found = await documents.deleted({ ...readPage(request), anyTags: options?.scopedTo }, options);
        return { documents: found.documents.map(renderDeleted), total: found.total };
      },
      async purgeDocuments(ids, options) {
        const contents = await documents.purgeDeleted({ ids, anyTags: options?.scopedTo });
        await originals.release(contents);
        return contents.length;
      },
      clearJobs: (options) => ingestion.clear({ anyTags: options?.scopedTo }),
      documentTypes: async (options) => [...(await documents.types({ anyTags: options?.scopedTo }, options))],
    },
    async changeTags(id, { add = [], remove = [] }) {
      const changed = await documents.changeTags({
        id,
        add: readTags(add, 'add'),
        remove: readTags(remove, 'remove'),
        tagsMax,
      });
      if (changed === undefined) throw documentNotFound(id);
      if (changed === 'tags_full')
        throw invalidInput(`Document ${id} would have more than ${tagsMax} tags. Remove some.`);
      return renderDocument(changed);
    },
    async moveDocument(id, path) {
      const sourcePath = readSourcePath(path);
      if (sourcePath === undefined) throw invalidInput('source_path must not be empty');
      const moved = await documents.move({ id, sourcePath, filename: readFilename(sourcePath) });
      if (moved === undefined) throw documentNotFound(id);
      return renderDocument(moved);
    },
    updateNote: (id, text, options) => updateNote(id, text, options, { documents, chunker, onEdited: embedding.wake }),
    async tags({ scopedTo: anyTags, after, limit, ...options } = {}) {
      return documents.tags({ anyTags, after, limit }, options);
    },
    ...bulkMethods,
    scopedTo: (collections) => scopedEngine(engine, collections),
    async close() {
      isClosed = true;
      clearTimeout(backlog);
      stopListening?.();
      await queue.close();
      await pruning?.close();
      await embedding.close();
      await chunker.close();
      await deps.close?.();
    },
  };
  return engine;

  async function renderJobs(jobs: readonly StoredJob[], options?: ReadOptions): Promise<EngineJob[]> {
    const stored = jobs.flatMap(({ status, documentId }) => (status === 'done' && documentId ? [documentId] : []));
    const pending = await embedding.pendingOf(stored, options);
    return jobs.map((job) => renderJob(job, liveProgress.get(job.id), pending.get(job.documentId ?? 0)));
  }

  async function renderDocuments(found: readonly StoredDocument[], options?: ReadOptions): Promise<EngineDocument[]> {
    const pending = await embedding.pendingOf(
      found.map(({ id }) => id),
      options,
    );
    return found.map((document) => renderDocument(document, pending.get(document.id)));
  }

  function createQueue(): DurableQueue {
    let lastSubmitter = '';
    return createDurableQueue<ClaimedJob>(
      { workers: settings.workers, leaseMs, pollMs, firstPollMs: backlogDelayMs, quickJobAfterMs },
      {
        async claim(isQuick) {
          if (isQuick) return ingestion.claim({ owner, leaseMs, quickBytesMax });
          const job = await ingestion.claim({ owner, leaseMs, lastSubmitter });
          lastSubmitter = job?.submitter ?? lastSubmitter;
          return job;
        },
        renew: ({ id }) => ingestion.renew({ id, owner, leaseMs, progress: liveProgress.get(id) }),
        async perform(job, signal, isQuick) {
          try {
            const report = (progress: PhaseProgress) => void liveProgress.set(job.id, progress);
            await ingest(
              job,
              { owner, signal, report, isQuick },
              { ...deps, chunker, longTexts, bounds: boundsOf(settings) },
            );
          } finally {
            liveProgress.delete(job.id);
            embedding.wake();
          }
        },
        async recover() {
          const owners = (await ingestion.owners()).filter(hasExited);
          if (owners.length > 0) await ingestion.giveBack({ owners, crashed: true });
        },
        async requeueOwn() {
          await ingestion.giveBack({ owners: [owner], crashed: false });
        },
      },
      log,
    );
  }

  async function file(id: number): Promise<EngineFile> {
    const document = await documents.get({ id });
    if (document === undefined) throw documentNotFound(id);
    const { filename, contentType: content_type } = document;
    const note = await documents.note({ id });
    if (note !== undefined) {
      const bytes = Buffer.from(note);
      return { filename, content_type, size: bytes.length, content: Readable.from([bytes]) };
    }
    const original = await originals.open(document.contentHash);
    if (original === undefined) {
      throw new CarrelError(
        'document_not_found',
        `The file of document ${id} is missing from the storage. Run carrel doctor.`,
      );
    }
    return { filename, content_type, size: original.bytes, content: original.content };
  }
}

/** Creates the queue of an engine without the role `ingest`. It only notifies the engines that ingest; they also poll. */
function notifyingQueue({ shared }: Storage): DurableQueue {
  return { wake: () => shared?.notify({ about: 'work' }), abort() {}, close: async () => {} };
}

function searchRoleMissing(): CarrelError {
  return new CarrelError(
    'role_missing',
    'This engine does not search: it runs without the role "search". Use one that does, or start it with --search.',
    { data: { role: 'search' } },
  );
}

/** Converts a job id. This engine's ids are numbers; anything else matches no job. */
function jobKey(id: JobId): number {
  if (typeof id === 'string' && !/^\d{1,15}$/.test(id)) throw jobNotFound();
  const key = Number(id);
  if (!Number.isSafeInteger(key)) throw jobNotFound();
  return key;
}
