import type { IndexedDocument } from '../../words/ranking/word-index.ts';
import type { Statements, WordIndex } from '../dialect.ts';
import type { Condition } from '../rows.ts';

/**
 * Indexes documents that are not indexed yet and are in key order. One call for many documents is faster than one for each. For
 * `also`, see WriteWords.
 */
export async function writeWords(
  on: Statements,
  index: WordIndex,
  documents: readonly IndexedDocument[],
  also: readonly Condition[] = [],
): Promise<void> {
  const keys = documents.map(({ key }) => key);
  await on.dialect.words.tokenize(documents)(on, index, keys, also);
}

export async function removeWords(on: Statements, index: WordIndex, keys: readonly number[]): Promise<void> {
  const { integers, words } = on.dialect;
  for (const table of words.tables) {
    await on.query(`DELETE FROM ${index.name}_${table} WHERE key IN (${integers})`, [{ list: keys }]);
  }
}
