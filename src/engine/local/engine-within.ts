import { collectionTag, isCollectionTag, outsideCollections } from '../collection-tag.ts';
import type { EngineCall, EngineDocument, EngineJob, Submission, TagCount } from '../engine.ts';
import { readTags } from '../given.ts';
import type { LocalEngine } from './local-engine.ts';
import { documentNotFound, jobNotFound } from './not-found.ts';
import type { SubmissionFields } from './submit.ts';

/**
 * The engine as callers know it who may use only some collections. Whatever is in others is as unknown to them as if it did
 * not exist: it is not found, listed, counted or taken for a duplicate, and the names of other collections appear nowhere.
 */
export function engineWithin(engine: LocalEngine, collections: readonly string[]): LocalEngine {
  const own = collections.map(collectionTag);
  const [home = ''] = own;
  const within = (options?: EngineCall): EngineCall => ({ ...options, within: own });

  const isOwn = (tags: readonly string[]): boolean => tags.some((tag) => own.includes(tag));
  const isTold = (tag: string): boolean => !isCollectionTag(tag) || own.includes(tag);
  const told = <Document extends EngineDocument>(document: Document): Document => ({
    ...document,
    tags: document.tags.filter(isTold),
  });
  const toldJob = (job: EngineJob): EngineJob => ({
    ...job,
    tags: tagsOf(job).filter(isTold),
    // What was changed may name other collections.
    details: {},
  });

  const find = async (id: number, options?: EngineCall) => {
    const document = await engine.documentAlone(id, options);
    if (!isOwn(document.tags)) throw documentNotFound(id);
    return document;
  };
  const findJob = async (id: number | string, options?: EngineCall): Promise<EngineJob> => {
    const job = await engine.job(id, options);
    if (!isOwn(tagsOf(job))) throw jobNotFound();
    return job;
  };

  /** Refuses every name that is not one of theirs alike, whether or not there is such a collection. */
  const checkNames = (tags: readonly string[]): void => {
    if (!readTags(tags).every(isTold)) throw outsideCollections(collections);
  };
  const filed = <Fields extends SubmissionFields>(fields: Fields): Fields => {
    const tags = fields.tags ?? [];
    checkNames(tags);
    return { ...fields, tags: isOwn(readTags(tags)) ? tags : [home, ...tags] };
  };
  const checkReplaced = async ({ replaces }: SubmissionFields): Promise<void> => {
    if (replaces !== undefined) await find(replaces);
  };
  /** A change must not take documents out of every collection that the caller may use. */
  const checkChange = (add: readonly string[], remove: readonly string[], before: readonly string[] = own): void => {
    checkNames([...add, ...remove]);
    const gone = new Set(readTags(remove));
    const left = [...before.filter((tag) => !gone.has(tag)), ...readTags(add)];
    if (!isOwn(left)) throw outsideCollections(collections);
  };

  return {
    ...engine,
    status: (options) => engine.status(within(options)),
    search: async (request, options) => {
      const answer = await engine.search(request, within(options));
      return { ...answer, results: answer.results.map((hit) => ({ ...hit, tags: hit.tags.filter(isTold) })) };
    },
    async submit(submission: Submission, options) {
      await checkReplaced(submission);
      return engine.submit(filed(submission), within(options));
    },
    async submitReceived(received, filename, fields, options) {
      try {
        await checkReplaced(fields);
        filed(fields);
      } catch (error) {
        await engine.dropReceived(received);
        throw error;
      }
      return engine.submitReceived(received, filename, filed(fields), within(options));
    },
    async jobs(request, options) {
      const { jobs, total } = await engine.jobs(request, within(options));
      return { jobs: jobs.map(toldJob), total };
    },
    job: async (id, options) => toldJob(await findJob(id, options)),
    async cancelJob(id, options) {
      await findJob(id, options);
      return toldJob(await engine.cancelJob(id, options));
    },
    async documents(request, options) {
      const { documents, total } = await engine.documents(request, within(options));
      return { documents: documents.map(told), total };
    },
    async document(id, options) {
      const document = await engine.document(id, options);
      if (!isOwn(document.tags)) throw documentNotFound(id);
      return told(document);
    },
    documentAlone: async (id, options) => told(await find(id, options)),
    async file(id, options) {
      await find(id, options);
      return engine.file(id, options);
    },
    async deleteDocument(id, options) {
      await find(id, options);
      return engine.deleteDocument(id, options);
    },
    restoreDocument: (id, options) => engine.restoreDocument(id, within(options)),
    async changeTags(id, change, options) {
      const { tags } = await find(id, options);
      checkChange(change.add ?? [], change.remove ?? [], tags);
      return told(await engine.changeTags(id, change, options));
    },
    async moveDocument(id, sourcePath, options) {
      await find(id, options);
      return told(await engine.moveDocument(id, sourcePath, options));
    },
    async updateNote(id, text, options) {
      await find(id, options);
      return told(await engine.updateNote(id, text, within(options)));
    },
    async tags({ after, limit = Number.POSITIVE_INFINITY, ...options } = {}) {
      const some: TagCount[] = [];
      for (let last = after; ; ) {
        const page = { after: last, ...(Number.isFinite(limit) ? { limit } : {}) };
        const found = await engine.tags({ ...within(options), ...page });
        some.push(...found.filter(({ tag }) => isTold(tag)));
        last = found.at(-1)?.tag;
        if (found.length < limit || some.length >= limit) return some.slice(0, limit);
      }
    },
    tagOverview: async (most, options) => engine.tagOverview(most, within(options)),
    bulkDelete: async (selection, options) => engine.bulkDelete(selection, within(options)),
    async bulkTags(selection, change, options) {
      const { add = [], remove = [], replaces } = change;
      checkNames([...add, ...remove]);
      // Which of them each document has is not known here.
      const mayLeave = replaces === 'collections' || isOwn(readTags(remove));
      if (mayLeave && !isOwn(readTags(add))) throw outsideCollections(collections);
      return engine.bulkTags(selection, change, within(options));
    },
    async bulkSetTags(selection, tags, options) {
      checkChange(tags, own);
      return engine.bulkSetTags(selection, tags, within(options));
    },
    within: () => engineWithin(engine, collections),
    close: async () => {},
  };
}

function tagsOf({ tags }: EngineJob): string[] {
  return Array.isArray(tags) ? tags.map(String) : [];
}
