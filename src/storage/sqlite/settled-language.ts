import { accessSync, constants } from 'node:fs';
import type { Language } from '../../words/language.ts';
import { textOf } from '../rows.ts';
import { analysisFor } from '../stores/words/word-analysis.ts';
import { checkOwner, openDatabase } from './database.ts';
import { closeToOthers } from './database-file.ts';
import { schemaVersion } from './migrate.ts';
import { migrations } from './migrations.ts';

/**
 * The language of the words in a database that can be worked with as it is: ours, of the newest schema, all texts
 * tokenised as they are wanted. Undefined where it must first be made or changed, and where the look fails: the writer
 * then says why.
 *
 * For the start of the program, on the thread that asks. The look takes a millisecond or two, and a thread that did it
 * would need more than thirty to begin.
 */
export function settledLanguage(path: string, wanted: Language | undefined): Language | undefined {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    // No wait for a lock here: a thread can wait without holding up others.
    const database = openDatabase({ path, role: 'reader', busyTimeoutMs: 0 });
    try {
      checkOwner(database);
      closeToOthers(path);
      if (schemaVersion(database) !== migrations.length) return undefined;
      const stamped = database.get('SELECT stamp FROM word_analysis');
      const stored = stamped && textOf(stamped, 'stamp');
      const { language, stamp } = analysisFor(stored, wanted);
      return stored === stamp ? language : undefined;
    } finally {
      database.close();
    }
  } catch {
    return undefined;
  }
}
