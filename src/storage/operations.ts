import assert from 'node:assert/strict';
import type { Operation } from './dialect.ts';
import { changeDocuments, changeTags, moveDocument, removeDocument } from './stores/documents/change-documents.ts';
import {
  acceptJob,
  cancelJob,
  claimJob,
  failJob,
  forgetJobs,
  giveBackJobs,
  postponeJob,
  renewJob,
} from './stores/documents/change-jobs.ts';
import { forgetDeleted, restoreDocument } from './stores/documents/deleted-documents.ts';
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
} from './stores/documents/read-documents.ts';
import { countJobs, getJob, leaseOwners, listJobs } from './stores/documents/read-jobs.ts';
import { releaseOriginals, usedOriginals } from './stores/documents/release-originals.ts';
import { editNote, finishJob } from './stores/documents/write-documents.ts';
import { textsBefore } from './stores/entries/entry-before.ts';
import { indexFields } from './stores/entries/entry-fields.ts';
import { entryStatistics, listTags, listThreads } from './stores/entries/entry-overview.ts';
import { putSummary, unsummarisedEntries } from './stores/entries/entry-summaries.ts';
import {
  entryImage,
  entryTexts,
  getEntries,
  listEntries,
  loadEntries,
  matchingEntries,
  pastGaps,
  searchEntryWords,
  weighEntryWords,
} from './stores/entries/read-entries.ts';
import { removeEntries, restoreEntries } from './stores/entries/remove-entries.ts';
import { changeReferences, takeOverEntries } from './stores/entries/take-over-entries.ts';
import { storeEntries, updateEntries } from './stores/entries/write-entries.ts';
import { getNote, listNotes } from './stores/notes/read-notes.ts';
import { removeNote, restoreNote, saveNote, updateNote } from './stores/notes/write-notes.ts';
import { getPassages, matchingPassages, searchPassages, weighPassages } from './stores/passages/read-passages.ts';
import { removePassages, replacePassages } from './stores/passages/write-passages.ts';
import {
  addToken,
  anyToken,
  findToken,
  forgetTokens,
  listTokens,
  revokeToken,
  touchToken,
} from './stores/tokens/tokens.ts';
import { checkStorage, describeStorage } from './stores/upkeep.ts';
import { claimTexts, otherClaims, releaseClaims, renewClaims } from './stores/vectors/claim-texts.ts';
import { chooseModel, dropVectors, forgetModel, listModels } from './stores/vectors/models.ts';
import { packVectors, removedVectors, scoreVectors, vectorState, vectorsAfter } from './stores/vectors/read-vectors.ts';
import { unembeddedOwners, waitingTexts } from './stores/vectors/texts-to-embed.ts';
import { putVectors } from './stores/vectors/write-vectors.ts';
import { storedLanguage } from './stores/words/word-analysis.ts';

/**
 * Every operation on a database. SQLite runs on its own thread, to which a function cannot be sent: both
 * sides look it up in this table by its name.
 */
const operations = {
  ...{
    storeEntries,
    takeOverEntries,
    changeReferences,
    updateEntries,
    removeEntries,
    restoreEntries,
    indexFields,
    putSummary,
  },
  ...{
    getEntries,
    entryImage,
    loadEntries,
    listEntries,
    searchEntryWords,
    weighEntryWords,
    matchingEntries,
    entryTexts,
    textsBefore,
    pastGaps,
  },
  ...{ unsummarisedEntries, listThreads, listTags, entryStatistics },
  ...{
    getDocument,
    listDocuments,
    documentChunks,
    locatedChunks,
    pendingChunks,
    documentNote,
    documentTags,
    tagOverview,
    countDocuments,
  },
  ...{ removeDocument, restoreDocument, forgetDeleted, changeTags, moveDocument, changeDocuments, editNote },
  ...{ acceptJob, claimJob, renewJob, finishJob, failJob, postponeJob, giveBackJobs, cancelJob, forgetJobs },
  ...{ getJob, listJobs, countJobs, leaseOwners, releaseOriginals, usedOriginals },
  ...{ saveNote, updateNote, removeNote, restoreNote, getNote, listNotes },
  ...{ getPassages, searchPassages, weighPassages, matchingPassages, replacePassages, removePassages },
  ...{ chooseModel, listModels, forgetModel, dropVectors, waitingTexts, unembeddedOwners, putVectors },
  ...{ claimTexts, otherClaims, renewClaims, releaseClaims },
  ...{ vectorState, vectorsAfter, packVectors, removedVectors, scoreVectors },
  ...{ addToken, listTokens, findToken, revokeToken, forgetTokens, anyToken, touchToken },
  ...{ describeStorage, checkStorage, storedLanguage },
} satisfies Record<string, Operation<never, unknown>>;

export type OperationName = keyof typeof operations;

export const operationNames: readonly string[] = Object.keys(operations);

const names = new Map(Object.entries(operations).map(([name, operation]): [unknown, string] => [operation, name]));

export function nameOf<Request, Answer>(operation: Operation<Request, Answer>): OperationName {
  const name = names.get(operation);
  assert(name !== undefined, `${operation.name} is not in the table of operations`);
  // The map was made from this table.
  return name as OperationName;
}

/** Whoever names an operation sends what it takes. */
export function operationOf(name: OperationName): Operation<never, unknown> {
  return operations[name];
}
