import { DatabaseSync } from 'node:sqlite';
import type { DataSet } from '../quality/data-set.ts';

/** Another way to search a thread (`group`). Returns the numbers of the ten best passages. */
export type Baseline = (question: string, group: string) => number[];

/** Creates a search like grep in a shell: lines with any of the question's words, most matches first. */
export function createGrep({ passages }: DataSet): Baseline {
  const texts = passages.map(({ text }) => text.toLowerCase());
  return (question, group) => {
    const words = [...new Set(wordsOf(question))].filter((word) => word.length > 3);
    return passages
      .map((passage, number) => ({
        number,
        matches: passage.group === group ? words.filter((word) => texts[number]?.includes(word)).length : 0,
      }))
      .filter(({ matches }) => matches > 0)
      .sort((a, b) => b.matches - a.matches || a.number - b.number)
      .slice(0, 10)
      .map(({ number }) => number);
  };
}

/** Creates a search with plain SQLite FTS5: Porter stems, any of the words, ranked by FTS5's BM25. */
export function createFts5({ passages }: DataSet): Baseline {
  const database = new DatabaseSync(':memory:');
  database.exec("CREATE VIRTUAL TABLE turns USING fts5 (text, thread UNINDEXED, tokenize = 'porter unicode61')");
  const insert = database.prepare('INSERT INTO turns (rowid, text, thread) VALUES (?, ?, ?)');
  passages.forEach(({ text, group }, number) => {
    insert.run(number, text, group);
  });
  const select = database.prepare(
    'SELECT rowid FROM turns WHERE turns MATCH ? AND thread = ? ORDER BY bm25(turns), rowid LIMIT 10',
  );
  return (question, group) => {
    const words = wordsOf(question).map((word) => `"${word}"`);
    return select.all(words.join(' OR '), group).map((row) => Number(row['rowid']));
  };
}

export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
