import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A test collection: passages, questions, and which passages answer each question. Passages are named by their index. */
export interface DataSet {
  name: string;
  passages: BenchPassage[];
  queries: BenchQuery[];
}

export interface BenchPassage {
  text: string;
  title: string;
  /** A query searches only passages of its own group: a thread (conversations), a language (XQuAD-R), or the whole set. */
  group: string;
  /** The previous passage in the same session of a thread. */
  previous: number | undefined;
}

export interface BenchQuery {
  id: string;
  text: string;
  split: string;
  group: string;
  /** Passage → gain. */
  relevant: Map<number, number>;
}

interface Row {
  id: string;
  text: string;
  title?: string;
  meta?: Record<string, unknown>;
}

export function loadDataSet(folder: string, name: string): DataSet | undefined {
  const file = (part: string) => join(folder, name, `${part}.jsonl`);
  if (!existsSync(file('corpus'))) return undefined;
  const rows = readRows<Row>(file('corpus'));
  const numbers = new Map(rows.map((row, number) => [row.id, number]));
  const relevant = new Map<string, Map<number, number>>();
  for (const judgement of readRows<{ query_id: string; doc_id: string; relevance: number }>(file('qrels'))) {
    const number = numbers.get(judgement.doc_id);
    if (number === undefined) continue;
    const gains = relevant.get(judgement.query_id) ?? new Map<number, number>();
    relevant.set(judgement.query_id, gains.set(number, judgement.relevance));
  }
  return {
    name,
    passages: rows.map((row, number) => ({
      text: row.text,
      title: row.title ?? '',
      group: groupOf(name, row),
      previous: number > 0 && isSameSession(rows[number - 1], row) ? number - 1 : undefined,
    })),
    queries: readRows<Row>(file('queries')).flatMap((row) => {
      const gains = relevant.get(row.id);
      // Questions of category 5 in LoCoMo have no answer; the published figures skip them.
      if (!gains || (name === 'locomo' && row.meta?.['category'] === 5)) return [];
      return [
        {
          id: row.id,
          text: row.text,
          split: String(row.meta?.['split'] ?? 'test'),
          group: groupOf(name, row),
          relevant: gains,
        },
      ];
    }),
  };
}

/** Splits a set into one set per group, each with its own index and statistics. */
export function splitByGroup(set: DataSet): DataSet[] {
  return [...new Set(set.passages.map(({ group }) => group))].sort().map((group) => {
    const numbers = new Map<number, number>();
    const passages = set.passages.filter((passage, number) => {
      if (passage.group === group) numbers.set(number, numbers.size);
      return passage.group === group;
    });
    const queries = set.queries
      .filter((query) => query.group === group)
      .map((query) => ({
        ...query,
        relevant: new Map([...query.relevant].map(([number, gain]) => [numbers.get(number) ?? -1, gain])),
      }));
    return { name: `${set.name} ${group}`, passages, queries };
  });
}

function groupOf(name: string, row: Row): string {
  return String(row.meta?.['thread_id'] ?? (name === 'xquad-r' ? row.meta?.['lang'] : ''));
}

function isSameSession(previous: Row | undefined, row: Row): boolean {
  if (row.meta?.['thread_id'] === undefined) return false;
  return previous?.meta?.['thread_id'] === row.meta['thread_id'] && previous?.meta?.['session'] === row.meta['session'];
}

function readRows<T>(file: string): T[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line): T => JSON.parse(line));
}
