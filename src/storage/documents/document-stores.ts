import { reads, type StoreOf, withoutTimeout, writes } from '../store-operations.ts';
import { acceptJob } from './accept-job.ts';
import { changeDocuments, changeTags, moveDocument, removeDocument } from './change-documents.ts';
import { listDeleted, pruneDeleted, purgeDeleted, restoreDocument } from './deleted-documents.ts';
import { cancelJob, claimJob, failJob, giveBackJobs, leaseOwners, postponeJob, renewJob } from './job-queue.ts';
import { clearJobs, countJobs, forgetJobs, getJob, listJobs } from './jobs.ts';
import {
  countDocuments,
  documentChunks,
  documentNote,
  documentTags,
  documentTypes,
  getDocument,
  listDocuments,
  locatedChunks,
  pendingChunks,
} from './read-documents.ts';
import { editNote, finishJob } from './write-documents.ts';

export const ingestionOperations = {
  ...reads({ get: getJob, list: listJobs, counts: countJobs }),
  ...writes({
    accept: acceptJob,
    claim: claimJob,
    renew: renewJob,
    finish: finishJob,
    fail: failJob,
    postpone: postponeJob,
    giveBack: giveBackJobs,
    cancel: cancelJob,
    clear: clearJobs,
    forget: forgetJobs,
  }),
  ...withoutTimeout({ owners: leaseOwners }),
};

export const documentOperations = {
  ...reads(
    {
      get: getDocument,
      list: listDocuments,
      chunks: documentChunks,
      located: locatedChunks,
      note: documentNote,
      tags: documentTags,
      types: documentTypes,
      counts: countDocuments,
    },
    { replica: true },
  ),
  ...reads({ pending: pendingChunks, deleted: listDeleted }),
  ...writes({
    remove: removeDocument,
    restore: restoreDocument,
    pruneDeleted,
    purgeDeleted,
    changeTags,
    move: moveDocument,
    editNote,
    changeMany: changeDocuments,
  }),
};

/**
 * The documents of the knowledge base. Their chunks are passages of the corpus `kb`, written in the same transaction. That
 * transaction also records every change in the list of jobs.
 */
export type DocumentStore = StoreOf<typeof documentOperations>;

/**
 * The queue of files and notes that will become documents, and the record of changes to documents. Several processes can work
 * on one queue: a job belongs to the process that holds its lease, and only that process can finish it.
 */
export type IngestionStore = StoreOf<typeof ingestionOperations>;
