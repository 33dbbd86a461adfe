import {
  type Corpus,
  matchesMax,
  type NewPassage,
  type PassageDocument,
  type PassageFilter,
  type PassageHit,
  type PassageStore,
  type StoredPassage,
} from '../contracts/passages.ts';
import { vectorCorpus } from '../contracts/vectors.ts';
import { storable } from '../storable.ts';
import { type Connections, numberOf, type Row, type Statements, textOf, textsOf } from './connections.ts';
import { createWordIndex, type OwnerFilter, type WordIndex } from './word-index.ts';
import { writeVectors } from './write-vectors.ts';

/** Passages are short; this many are scored in a few milliseconds. */
const poolMax = 200;

/** Rows that one statement carries. Their words are found between two statements, and somebody may be waiting. */
const batchMax = 100;

/** Writes passages as a part of a transaction that runs: a document and its passages are stored together. */
export interface PassageWriter {
  replace(statements: Statements, documents: readonly PassageDocument[]): Promise<void>;
  /** The number of passages that are gone. */
  remove(statements: Statements, parents: readonly string[]): Promise<number>;
  /** Puts these labels on all passages of the documents, in the place of those they had. */
  relabel(statements: Statements, parents: readonly string[], labels: readonly string[]): Promise<void>;
}

export function createPassageWriter(corpus: Corpus, words = createPassageWords(corpus)): PassageWriter {
  const passages = `carrel.${corpus}_passages`;
  return {
    async replace(statements, documents) {
      await remove(
        statements,
        documents.map(({ parent }) => parent),
      );
      const fresh = documents.flatMap(({ parent, passages: own }) => own.map((passage) => clean(parent, passage)));
      for (let first = 0; first < fresh.length; first += batchMax) {
        await insert(statements, fresh.slice(first, first + batchMax));
      }
    },
    remove,
    async relabel(statements, parents, labels) {
      await statements.query(`UPDATE ${passages} SET labels = $1 WHERE parent = ANY ($2)`, [
        [...new Set(labels.map(storable))],
        parents.map(storable),
      ]);
    },
  };

  async function insert(statements: Statements, fresh: readonly CleanPassage[]): Promise<void> {
    const rows = await statements.query(
      `INSERT INTO ${passages} (id, parent, position, title, headings, body, labels)
       SELECT r.id, r.parent, r.position, r.title, r.headings, r.body, r.labels FROM jsonb_to_recordset($1::jsonb)
         AS r (id text, parent text, position integer, title text, headings text[], body text, labels text[])
       RETURNING id, key`,
      [JSON.stringify(fresh.map(({ vectors: _, ...columns }) => columns))],
    );
    const keys = new Map(rows.map((row) => [textOf(row, 'id'), numberOf(row, 'key')]));
    const keyOf = (id: string) => keys.get(id) ?? 0;
    await words.write(
      statements,
      fresh.map(({ id, title, headings, body }) => ({ key: keyOf(id), title, heading: headings.join('\n'), body })),
    );
    const embedded = fresh.flatMap(({ id, vectors }) =>
      vectors === undefined ? [] : [{ owner: keyOf(id), ...vectors }],
    );
    if (embedded.length > 0) await writeVectors(statements, vectorCorpus(corpus), embedded);
  }

  async function remove(statements: Statements, parents: readonly string[]): Promise<number> {
    const rows = await statements.query(`DELETE FROM ${passages} WHERE parent = ANY ($1) RETURNING 1`, [
      parents.map(storable),
    ]);
    return rows.length;
  }
}

export function createPassageStore(connections: Connections, corpus: Corpus): PassageStore {
  const passages = `carrel.${corpus}_passages`;
  const words = createPassageWords(corpus);
  const writer = createPassageWriter(corpus, words);
  return {
    replace: (documents) => connections.write((statements) => writer.replace(statements, documents)),
    remove: (parents) => connections.write((statements) => writer.remove(statements, parents)),
    get: (keys, options) =>
      connections.read(async (statements) => {
        const rows = await rowsByKey(statements, '*', keys);
        return keys.flatMap((key) => passageOf(rows.get(key)));
      }, options),
    between: (parent, first, last, options) =>
      connections.read(async (statements) => {
        const rows = await statements.query(
          `SELECT * FROM ${passages} WHERE parent = $1 AND position BETWEEN $2 AND $3 ORDER BY position, id`,
          [storable(parent), first, last],
        );
        return rows.flatMap(passageOf);
      }, options),
    search: ({ query, filter, ...page }, options) =>
      connections.read(async (statements) => {
        const { found, total, scoreMax } = await words.find(statements, query, ownerFilter(filter ?? {}), page);
        const keys = found.map(({ key }) => key);
        const rows = await rowsByKey(statements, 'key, id, parent, position', keys);
        return { hits: found.flatMap(({ key, score }) => hitOf(rows.get(key), score)), total, scoreMax };
      }, options),
    weigh: (request, options) => connections.read((statements) => words.weigh(statements, request), options),
  };

  async function rowsByKey(
    statements: Statements,
    columns: string,
    keys: readonly number[],
  ): Promise<Map<number, Row>> {
    const rows = await statements.query(`SELECT ${columns} FROM ${passages} WHERE key = ANY ($1)`, [keys]);
    return new Map(rows.map((row) => [numberOf(row, 'key'), row]));
  }
}

/** The keys that the filter lets through, ascending. */
export async function matchingPassages(
  statements: Statements,
  corpus: Corpus,
  filter: PassageFilter,
): Promise<Float64Array> {
  const { sql = 'TRUE', values } = ownerFilter(filter);
  const rows = await statements.query(
    `SELECT o.key FROM carrel.${corpus}_passages o WHERE ${sql} ORDER BY o.key`,
    values,
  );
  return Float64Array.from(rows, (row) => numberOf(row, 'key'));
}

function createPassageWords(corpus: Corpus): WordIndex {
  return createWordIndex({
    name: `${corpus}_passage`,
    owner: `${corpus}_passages`,
    poolMax,
    totalMax: matchesMax,
  });
}

type CleanPassage = NewPassage & { parent: string };

function clean(parent: string, passage: NewPassage): CleanPassage {
  return {
    vectors: passage.vectors,
    id: storable(passage.id),
    parent: storable(parent),
    position: passage.position,
    title: storable(passage.title),
    headings: passage.headings.map(storable),
    body: storable(passage.body),
    labels: [...new Set(passage.labels.map(storable))],
  };
}

export function ownerFilter(filter: PassageFilter): OwnerFilter {
  const values: unknown[] = [];
  const conditions = (filter.labels ?? []).map((group) => {
    values.push(group.map(storable));
    return `o.labels && $${values.length}::text[]`;
  });
  if (filter.parents !== undefined) {
    values.push(filter.parents.map(storable));
    conditions.push(`o.parent = ANY ($${values.length}::text[])`);
  }
  return { sql: conditions.length === 0 ? undefined : conditions.join(' AND '), values };
}

function passageOf(row: Row | undefined): StoredPassage[] {
  if (row === undefined) return [];
  return [
    {
      key: numberOf(row, 'key'),
      id: textOf(row, 'id'),
      parent: textOf(row, 'parent'),
      position: numberOf(row, 'position'),
      title: textOf(row, 'title'),
      headings: textsOf(row, 'headings'),
      body: textOf(row, 'body'),
      labels: textsOf(row, 'labels'),
    },
  ];
}

function hitOf(row: Row | undefined, score: number): PassageHit[] {
  if (row === undefined) return [];
  const [key, position] = [numberOf(row, 'key'), numberOf(row, 'position')];
  return [{ key, id: textOf(row, 'id'), parent: textOf(row, 'parent'), position, score }];
}
