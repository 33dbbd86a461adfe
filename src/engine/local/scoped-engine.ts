import { collectionTag, isCollectionTag, outsideCollections } from '../collection-tag.ts';
import { documentNotFound, jobNotFound, readTags } from '../contract/validate-input.ts';
import type { EngineCall, EngineDocument, EngineJob, SubmissionFields, TagCount } from '../engine.ts';
import type { LocalEngine } from './submit.ts';

/** Creates an engine for callers restricted to some collections. It hides all others and their documents. */
export function scopedEngine(engine: LocalEngine, collections: readonly string[]): LocalEngine {
  const allowedTags = collections.map(collectionTag);
  const [defaultTag = ''] = allowedTags;
  const scoped = (options?: EngineCall): EngineCall => ({ ...options, scopedTo: allowedTags });

  const isAllowed = (tags: readonly string[]): boolean => tags.some((tag) => allowedTags.includes(tag));
  const isVisible = (tag: string): boolean => !isCollectionTag(tag) || allowedTags.includes(tag);
  const visible = <Document extends EngineDocument>(document: Document): Document => ({
    ...document,
    tags: document.tags.filter(isVisible),
  });
  const visibleJob = (job: EngineJob): EngineJob => ({
    ...job,
    tags: job.tags.filter(isVisible),
    // The details of a change may name other collections; those of a crawl don't.
    details: (job.kind === 'crawl' && job.details) || {},
  });

  const find = async (id: number, options?: EngineCall) => {
    const document = await engine.documentWithoutChunks(id, options);
    if (!isAllowed(document.tags)) throw documentNotFound(id);
    return document;
  };
  const findJob = async (id: number | string, options?: EngineCall): Promise<EngineJob> => {
    const job = await engine.job(id, options);
    if (!isAllowed(job.tags)) throw jobNotFound();
    return job;
  };

  /** Rejects tags of other collections. The error does not reveal whether they exist. */
  const checkTags = (tags: readonly string[]): void => {
    if (!readTags(tags).every(isVisible)) throw outsideCollections(collections);
  };
  /** Checks the fields of a submission. Without a collection, it goes to the caller's first one. */
  const checkSubmission = async <Fields extends SubmissionFields>(fields: Fields): Promise<Fields> => {
    const { tags = [], replaces } = fields;
    if (replaces !== undefined) await find(replaces);
    checkTags(tags);
    return { ...fields, tags: isAllowed(readTags(tags)) ? tags : [defaultTag, ...tags] };
  };
  /** Rejects a change that would remove a document from all collections of the caller. */
  const checkChange = (
    add: readonly string[],
    remove: readonly string[],
    before: readonly string[] = allowedTags,
  ): void => {
    checkTags([...add, ...remove]);
    const removed = new Set(readTags(remove));
    const after = [...before.filter((tag) => !removed.has(tag)), ...readTags(add)];
    if (!isAllowed(after)) throw outsideCollections(collections);
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
      if (!isAllowed(document.tags)) throw documentNotFound(id);
      return visible(document);
    },
    documentWithoutChunks: async (id, options) => visible(await find(id, options)),
    async file(id, options) {
      await find(id, options);
      return engine.file(id, options);
    },
    async deleteDocument(id, options) {
      await find(id, options);
      return engine.deleteDocument(id, options);
    },
    restoreDocument: (id, options) => engine.restoreDocument(id, scoped(options)),
    maintenance: {
      async deletedDocuments(request, options) {
        const { documents, total } = await engine.maintenance.deletedDocuments(request, scoped(options));
        return { documents: documents.map((each) => ({ ...each, tags: each.tags.filter(isVisible) })), total };
      },
      purgeDocuments: (ids, options) => engine.maintenance.purgeDocuments(ids, scoped(options)),
      clearJobs: (options) => engine.maintenance.clearJobs(scoped(options)),
      documentTypes: (options) => engine.maintenance.documentTypes(scoped(options)),
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
      const tags: TagCount[] = [];
      for (let last = after; ; ) {
        const page = { after: last, ...(Number.isFinite(limit) ? { limit } : {}) };
        const found = await engine.tags({ ...scoped(options), ...page });
        tags.push(...found.filter(({ tag }) => isVisible(tag)));
        last = found.at(-1)?.tag;
        if (found.length < limit || tags.length >= limit) return tags.slice(0, limit);
      }
    },
    bulkDelete: async (selection, options) => engine.bulkDelete(selection, scoped(options)),
    async bulkTags(selection, change, options) {
      const { add = [], remove = [], replaces } = change;
      checkTags([...add, ...remove]);
      // The documents' tags are unknown here, so removing a collection requires adding an allowed one.
      const mayRemove = replaces === 'collections' || isAllowed(readTags(remove));
      if (mayRemove && !isAllowed(readTags(add))) throw outsideCollections(collections);
      return engine.bulkTags(selection, change, scoped(options));
    },
    async bulkSetTags(selection, tags, options) {
      checkChange(tags, allowedTags);
      return engine.bulkSetTags(selection, tags, scoped(options));
    },
    scopedTo: () => scopedEngine(engine, collections),
    close: async () => {},
  };
}
