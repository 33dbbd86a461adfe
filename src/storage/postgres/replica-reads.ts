import {
  countDocuments,
  documentChunks,
  documentNote,
  documentTags,
  getDocument,
  listDocuments,
  locatedChunks,
  tagOverview,
} from '../stores/documents/read-documents.ts';
import { textsBefore } from '../stores/entries/entry-before.ts';
import { entryStatistics, listTags, listThreads } from '../stores/entries/entry-overview.ts';
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
} from '../stores/entries/read-entries.ts';
import { getNote, listNotes } from '../stores/notes/read-notes.ts';
import { getPassages, matchingPassages, searchPassages, weighPassages } from '../stores/passages/read-passages.ts';
import { listModels } from '../stores/vectors/models.ts';
import { removedVectors, scoreVectors, vectorState, vectorsAfter } from '../stores/vectors/read-vectors.ts';

/**
 * What a replica may answer: searches, and what is shown of their hits. Not what decides who does something (jobs, claims),
 * who is let in (tokens) or what is kept for a while (the shared store): that is short, and compares the server's clock.
 */
export const replicaReads: ReadonlySet<unknown> = new Set<unknown>([
  ...[searchEntryWords, weighEntryWords, matchingEntries, listEntries, loadEntries, getEntries, entryImage],
  ...[entryTexts, textsBefore, pastGaps, listThreads, listTags, entryStatistics],
  ...[searchPassages, weighPassages, matchingPassages, getPassages],
  ...[getDocument, listDocuments, documentChunks, locatedChunks, documentNote, documentTags, tagOverview],
  countDocuments,
  ...[getNote, listNotes],
  ...[listModels, vectorState, vectorsAfter, removedVectors, scoreVectors],
]);
