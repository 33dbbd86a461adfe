import type { DocumentStore } from '../../contracts/documents.ts';
import type { IngestionStore } from '../../contracts/ingestion.ts';
import type { Transactions } from '../../transactions.ts';
import { changeDocuments, changeTags, moveDocument, removeDocument } from './change-documents.ts';
import {
  acceptJob,
  cancelJob,
  claimJob,
  failJob,
  forgetJobs,
  giveBackJobs,
  postponeJob,
  renewJob,
} from './change-jobs.ts';
import { forgetDeleted, restoreDocument } from './deleted-documents.ts';
import {
  countDocuments,
  documentChunks,
  documentNote,
  documentTags,
  getDocument,
  listDocuments,
  locatedChunks,
  pendingChunks,
  tagOverview,
} from './read-documents.ts';
import { countJobs, getJob, leaseOwners, listJobs } from './read-jobs.ts';
import { editNote, finishJob } from './write-documents.ts';

export function createIngestionStore({ write, read, alone }: Transactions): IngestionStore {
  return {
    accept: (request) => write(acceptJob, request),
    claim: (request) => write(claimJob, request),
    renew: (request) => write(renewJob, request),
    finish: (request) => write(finishJob, request),
    fail: (request) => write(failJob, request),
    postpone: (request) => write(postponeJob, request),
    giveBack: (request) => write(giveBackJobs, request),
    cancel: (request) => write(cancelJob, request),
    forget: (request) => write(forgetJobs, request),
    owners: (request) => alone(leaseOwners, request),
    get: (request, options) => read(getJob, request, options),
    list: (request, options) => read(listJobs, request, options),
    counts: (request, options) => read(countJobs, request, options),
  };
}

export function createDocumentStore({ write, read }: Transactions): DocumentStore {
  return {
    get: (request, options) => read(getDocument, request, options),
    list: (request, options) => read(listDocuments, request, options),
    chunks: (request, options) => read(documentChunks, request, options),
    located: (request, options) => read(locatedChunks, request, options),
    pending: (request, options) => read(pendingChunks, request, options),
    note: (request, options) => read(documentNote, request, options),
    tags: (request, options) => read(documentTags, request, options),
    tagOverview: (request, options) => read(tagOverview, request, options),
    counts: (request, options) => read(countDocuments, request, options),
    remove: (request) => write(removeDocument, request),
    restore: (request) => write(restoreDocument, request),
    forgetDeleted: (request) => write(forgetDeleted, request),
    changeTags: (request) => write(changeTags, request),
    move: (request) => write(moveDocument, request),
    editNote: (request) => write(editNote, request),
    changeMany: (request) => write(changeDocuments, request),
  };
}
