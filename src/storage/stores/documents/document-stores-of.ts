import type { DocumentStore } from '../../contracts/documents.ts';
import type { IngestionStore } from '../../contracts/ingestion.ts';
import type { DocumentRunner } from './document-operations.ts';

export function documentStoreOf({ write, read }: DocumentRunner): DocumentStore {
  return {
    get: (request, options) => read('document', request, options),
    list: (request, options) => read('documents', request, options),
    chunks: (request, options) => read('chunks', request, options),
    located: (request, options) => read('located', request, options),
    note: (request, options) => read('note', request, options),
    tags: (request, options) => read('tags', request, options),
    counts: (request, options) => read('documentCounts', request, options),
    remove: (request) => write('remove', request),
    changeTags: (request) => write('changeTags', request),
    editNote: (request) => write('editNote', request),
    changeMany: (request) => write('changeMany', request),
  };
}

export function ingestionStoreOf({ write, read }: DocumentRunner): IngestionStore {
  return {
    accept: (request) => write('accept', request),
    claim: (request) => write('claim', request),
    renew: (request) => write('renew', request),
    finish: (request) => write('finish', request),
    fail: (request) => write('fail', request),
    postpone: (request) => write('postpone', request),
    giveBack: (request) => write('giveBack', request),
    cancel: (request) => write('cancel', request),
    forget: (request) => write('forget', request),
    owners: (request) => read('owners', request, undefined),
    get: (request, options) => read('job', request, options),
    list: (request, options) => read('jobs', request, options),
    counts: (request, options) => read('jobCounts', request, options),
  };
}
