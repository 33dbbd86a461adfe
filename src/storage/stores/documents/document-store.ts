import type { DocumentStore } from '../../contracts/documents.ts';
import type { Transactions } from '../../transactions.ts';
import { changeDocuments, changeTags, moveDocument, removeDocument } from './change-documents.ts';
import {
  countDocuments,
  documentChunks,
  documentNote,
  documentTags,
  getDocument,
  listDocuments,
  locatedChunks,
  pendingChunks,
} from './read-documents.ts';
import { editNote } from './write-documents.ts';

export function createDocumentStore({ write, read }: Transactions): DocumentStore {
  return {
    get: (request, options) => read(getDocument, request, options),
    list: (request, options) => read(listDocuments, request, options),
    chunks: (request, options) => read(documentChunks, request, options),
    located: (request, options) => read(locatedChunks, request, options),
    pending: (request, options) => read(pendingChunks, request, options),
    note: (request, options) => read(documentNote, request, options),
    tags: (request, options) => read(documentTags, request, options),
    counts: (request, options) => read(countDocuments, request, options),
    remove: (request) => write(removeDocument, request),
    changeTags: (request) => write(changeTags, request),
    move: (request) => write(moveDocument, request),
    editNote: (request) => write(editNote, request),
    changeMany: (request) => write(changeDocuments, request),
  };
}
