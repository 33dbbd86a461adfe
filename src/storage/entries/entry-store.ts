import { reads, type StoreOf, writes } from '../store-operations.ts';
import { entryStatistics, listTags, listThreads } from './entry-overview.ts';
import { putSummary, unsummarisedEntries } from './entry-parts.ts';
import { changeReferences, importEntries } from './import-entries.ts';
import { indexFields } from './indexed-fields.ts';
import { entryImage, entryTexts, getEntries, listEntries, loadEntries } from './read-entries.ts';
import { deletedEntries, purgeEntries, removeEntries, restoreEntries } from './remove-entries.ts';
import { historyGaps, matchingEntries, scoreEntryWords, searchEntryWords, textsBefore } from './search-entries.ts';
import { storeEntries, updateEntries } from './write-entries.ts';

export const entryOperations = {
  ...reads(
    {
      get: getEntries,
      load: loadEntries,
      image: entryImage,
      list: listEntries,
      searchWords: searchEntryWords,
      scoreWords: scoreEntryWords,
      matching: matchingEntries,
      texts: entryTexts,
      textsBefore,
      historyGaps,
      threads: listThreads,
      tags: listTags,
      statistics: entryStatistics,
    },
    { replica: true },
  ),
  ...reads({ unsummarised: unsummarisedEntries, deleted: deletedEntries }),
  ...writes({
    store: storeEntries,
    import: importEntries,
    changeReferences,
    update: updateEntries,
    remove: removeEntries,
    restore: restoreEntries,
    purge: purgeEntries,
    indexFields,
    putSummary,
  }),
};

/** An agent's memory: texts in threads, with tags, metadata and images. */
export type EntryStore = StoreOf<typeof entryOperations>;
