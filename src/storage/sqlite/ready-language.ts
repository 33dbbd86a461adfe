import { accessSync, constants } from 'node:fs';
import type { Language } from '../../words/language.ts';
import { textOf } from '../rows.ts';
import { newestSchema } from '../schema/schema-version.ts';
import { analysisFor } from '../words/word-analysis.ts';
import { checkOwner, openDatabase } from './database.ts';
import { closeToOthers } from './database-file.ts';
import { schemaVersion } from './migrate.ts';

/**
 * The language of the words, if the database can be used as it is: ours, of the newest schema, tokenised as wanted. Otherwise
 * undefined, and the writer's thread creates, migrates or rejects it. Read on the calling thread: that takes a millisecond or
 * two, and starting a thread more than thirty.
 */
export function readyLanguage(path: string, wanted: Language | undefined): Language | undefined {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    // Does not wait for a lock: a thread can wait without blocking others.
    const database = openDatabase({ path, role: 'reader', busyTimeoutMs: 0 });
    try {
      checkOwner(database);
      closeToOthers(path);
      if (schemaVersion(database) !== newestSchema) return undefined;
      const stamped = database.get("SELECT value FROM settings WHERE name = 'word_analysis'");
      const stored = stamped && textOf(stamped, 'value');
      const { language, stamp } = analysisFor(stored, wanted);
      return stored === stamp ? language : undefined;
    } finally {
      database.close();
    }
  } catch {
    return undefined;
  }
}
