import { type Database, textOf } from './database.ts';

/** By which analysis the terms in the database were made; see word-analysis.ts. */
export function storedAnalysis(database: Database): string | undefined {
  const row = database.get('SELECT stamp FROM word_analysis');
  return row === undefined ? undefined : textOf(row, 'stamp');
}
