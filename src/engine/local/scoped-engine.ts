import { collectionTag, isCollectionTag, outsideCollections } from '../collection-tag.ts';
import { documentNotFound, jobNotFound, readTags } from '../contract/validate-input.ts';
import type { EngineCall, EngineDocument, EngineJob, SubmissionFields, TagCount } from '../engine.ts';
import type { LocalEngine } from './submit.ts';

/** Creates an engine for callers restricted to some collections. It hides all others and their documents. */
export function scopedEngine(engine: LocalEngine, collections: readonly string[]): LocalEngine {
  const own = collections.map(collectionTag);
  const [home = ''] = own;
  const scoped = (options?: EngineCall): EngineCall => ({ ...options, scopedTo: own });

  const isOwn = (tags: readonly string[]): boolean => tags.some((tag) => own.includes(tag));
  const isVisible = (tag: string): boolean => !isCollectionTag(tag) || own.includes(tag);
  const visible = <Document extends EngineDocument>(document: Document): Document => ({
    ...document,
    tags: document.tags.filter(isVisible),
  });
  const visibleJob = (job: EngineJob): EngineJob => ({
    ...job,
    tags: job.tags.filter(isVisible),
    // Hides the details of all jobs except crawls: the details of a change may name other collections.
    details: (job.kind === 'crawl' && job.details) || {},
  });

  const find = async (id: number, options?: EngineCall) => {
    const document = await engine.documentAlone(id, options);
    if (!isOwn(document.tags)) throw documentNotFound(id);
    return document;
  };
  const findJob = async (id: number | string, options?: EngineCall): Promise<EngineJob> => {
    const job = await engine.job(id, options);
    if (!isOwn(job.tags)) throw jobNotFound();
    return job;
  };

  /** Rejects the names of other collections with the same error, whether they exist or not. */
  const checkNames = (tags: readonly string[]): void => {
    if (!readTags(tags).every(isVisible)) throw outsideCollections(collections);
  };
  /** Checks the fields of a submission. Without a collection, it goes to the caller's first one. */
  const checkSubmission = async <Fields extends SubmissionFields>(fields: Fields): Promise<Fields> => {
    const { tags = [], replaces } = fields;
    if (replaces !== undefined) await find(replaces);
    checkNames(tags);
    return { ...fields, tags: isOwn(readTags(tags)) ? tags : [home, ...tags] };
  };
  /** Rejects a change after which a document would be in no collection of the caller. */
  const checkChange = (add: readonly string[], remove: readonly string[], before: readonly string[] = own): void => {
    checkNames([...add, ...remove]);
    const gone = new Set(readTags(remove));
    const left = [...before.filter((tag) => !gone.has(tag)), ...readTags(add)];
    if (!isOwn(left)) throw outsideCollections(collections);
  };

  return {
    ...engine,
    status: (options) => engine.status(scoped(options)),
    search: async (request, options) => {
      const answer = await engine.search(request, scoped(options));
      return { ...answer, results: answer.results.map((hit) => ({ ...hit, tags: hit.tags.filter(isVisible) })) };
    },
    submit: async (submission, options) => engine.submit(await checkSubmission(submission), scoped(options)),
    submitStreamed: (content, fields, options) =>
      engine.submitStreamed(content, fields.then(checkSubmission), scoped(options)),
    async jobs(request, options) {
      const { jobs, total } = await engine.jobs(request, scoped(options));
      return { jobs: jobs.map(visibleJob), total };
    },
    job: async (id, options) => visibleJob(await findJob(id, options)),
    async cancelJob(id, options) {
      await findJob(id, options);
      return visibleJob(await engine.cancelJob(id, options));
    },
    async documents(request, options) {
      const { documents, total } = await engine.documents(request, scoped(options));
      return { documents: documents.map(visible), total };
    },
    async document(id, options) {
      const document = await engine.document(id, options);
      if (!isOwn(document.tags)) throw documentNotFound(id);
      return visible(document);
    },
    documentAlone: async (id, options) => visible(await find(id, options)),
    async file(id, options) {
      await find(id, options);
      return engine.file(id, options);
    },
    async deleteDocument(id, options) {
      await find(id, options);
      return engine.deleteDocument(id, options);
    },
    restoreDocument: (id, options) => engine.restoreDocument(id, scoped(options)),
    upkeep: {
      async deletedDocuments(request, options) {
        const { documents, total } = await engine.upkeep.deletedDocuments(request, scoped(options));
        return { documents: documents.map((each) => ({ ...each, tags: each.tags.filter(isVisible) })), total };
      },
      purgeDocuments: (ids, options) => engine.upkeep.purgeDocuments(ids, scoped(options)),
      clearJobs: (options) => engine.upkeep.clearJobs(scoped(options)),
      documentTypes: (options) => engine.upkeep.documentTypes(scoped(options)),
    },
    async changeTags(id, change, options) {
      const { tags } = await find(id, options);
      checkChange(change.add ?? [], change.remove ?? [], tags);
      return visible(await engine.changeTags(id, change, options));
    },
    async moveDocument(id, sourcePath, options) {
      await find(id, options);
      return visible(await engine.moveDocument(id, sourcePath, options));
    },
    async updateNote(id, text, options) {
      await find(id, options);
      return visible(await engine.updateNote(id, text, scoped(options)));
    },
    async tags({ after, limit = Number.POSITIVE_INFINITY, ...options } = {}) {
      const some: TagCount[] = [];
      for (let last = after; ; ) {
        const page = { after: last, ...(Number.isFinite(limit) ? { limit } : {}) };
        const found = await engine.tags({ ...scoped(options), ...page });
        some.push(...found.filter(({ tag }) => isVisible(tag)));
        last = found.at(-1)?.tag;
        if (found.length < limit || some.length >= limit) return some.slice(0, limit);
      }
    },
    bulkDelete: async (selection, options) => engine.bulkDelete(selection, scoped(options)),
    async bulkTags(selection, change, options) {
      const { add = [], remove = [], replaces } = change;
      checkNames([...add, ...remove]);
      // The current tags of the documents are unknown here, so a removal needs a collection to add.
      const mayLeave = replaces === 'collections' || isOwn(readTags(remove));
      if (mayLeave && !isOwn(readTags(add))) throw outsideCollections(collections);
      return engine.bulkTags(selection, change, scoped(options));
    },
    async bulkSetTags(selection, tags, options) {
      checkChange(tags, own);
      return engine.bulkSetTags(selection, tags, scoped(options));
    },
    scopedTo: () => scopedEngine(engine, collections),
    close: async () => {},
  };
}
