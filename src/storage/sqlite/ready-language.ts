import { accessSync, constants } from 'node:fs';
import type { Language } from '../../words/language.ts';
import { textOf } from '../rows.ts';
import { newestSchema } from '../schema/schema-version.ts';
import { analysisFor } from '../words/word-analysis.ts';
import { checkOwner, openDatabase } from './database.ts';
import { makePrivate } from './database-file.ts';
import { schemaVersion } from './migrate.ts';

/**
 * Returns the language of the words if the database can be used as it is: it has the newest schema and the requested language.
 * Otherwise returns undefined; the writer's thread then creates, migrates or rejects the database.
 */
export function readyLanguage(path: string, requested: Language | undefined): Language | undefined {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    // A timeout of 0, because waiting for a lock would block this thread. The writer's thread waits instead.
    const database = openDatabase({ path, role: 'reader', busyTimeoutMs: 0 });
    try {
      checkOwner(database);
      makePrivate(path);
      if (schemaVersion(database) !== newestSchema) return undefined;
      const stamped = database.get("SELECT value FROM settings WHERE name = 'word_analysis'");
      const stored = stamped && textOf(stamped, 'value');
      const { language, stamp } = analysisFor(stored, requested);
      return stored === stamp ? language : undefined;
    } finally {
      database.close();
    }
  } catch {
    return undefined;
  }
}
