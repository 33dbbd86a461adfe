import { describe } from 'node:test';
import { onEachDatabase } from './kb-fixture.ts';
import { notesAndSearch } from './notes.ts';
import { readingWhatIsThere } from './reading.ts';
import { transportAndAuthentication } from './serving.ts';
import { uploads } from './uploads.ts';

// These suites share an engine and a kb server. The first one begins without documents.
onEachDatabase('kb', (kb) => {
  describe('what is there', () => readingWhatIsThere(kb));
  describe('notes, search and collections', () => notesAndSearch(kb));
  // The rest does not depend on the database.
  if (kb.backend === 'postgresql') return;
  describe('chunked file upload', () => uploads(kb));
  describe('transport and authentication', () => transportAndAuthentication(kb));
});
