import type { SQLInputValue } from 'node:sqlite';
import type { IndexedTexts, WeighedWords, WeighRequest } from '../../words/ranking/word-index.ts';
import {
  type Corpus,
  corpora,
  matchesMax,
  type NewPassage,
  type PassageDocument,
  type PassageFilter,
  type PassageHit,
  type PassagePage,
  type PassageSearch,
  type StoredPassage,
} from '../contracts/passages.ts';
import { type TextVectors, vectorCorpus } from '../contracts/vectors.ts';
import { createIdSet, type IdPages } from '../id-set.ts';
import { storable } from '../storable.ts';
import { type Database, numberOf, type Row, textOf } from './database.ts';
import { createKeyLists, type KeyList } from './key-lists.ts';
import type { KeyFilter } from './row-filter.ts';
import { writeVectors } from './vectors.ts';
import { createWordIndex } from './word-index.ts';
import { cutHere, type WriteHelper } from './write-helper.ts';

/** The passages of all corpora in SQLite, on the thread that has the connection. */
export interface PassageTables {
  replace(corpus: Corpus, documents: readonly PassageDocument[]): void;
  remove(corpus: Corpus, parents: readonly string[]): number;
  /** Puts these labels on all passages of the documents, in the place of those they had. */
  relabel(corpus: Corpus, parents: readonly string[], labels: readonly string[]): void;
  get(corpus: Corpus, keys: readonly number[]): StoredPassage[];
  between(corpus: Corpus, parent: string, first: number, last: number): StoredPassage[];
  search(corpus: Corpus, request: PassageSearch): PassagePage;
  weigh(corpus: Corpus, request: WeighRequest): WeighedWords;
  /** The keys that the filter lets through, ascending. */
  matching(corpus: Corpus, filter: PassageFilter): IdPages;
}

/** Passages are short; this many are scored in a few milliseconds. */
const poolMax = 200;

/** Passages that one statement carries. */
const rowsAtOnce = 16;

export function createPassageTables(database: Database, helper: WriteHelper | undefined): PassageTables {
  const tables = new Map(corpora.map((corpus) => [corpus, createPassageTable(database, corpus, helper)]));
  const table = (corpus: Corpus) => {
    const found = tables.get(corpus);
    if (found === undefined) throw new TypeError('no such corpus');
    return found;
  };
  return {
    replace: (corpus, documents) => table(corpus).replace(documents),
    remove: (corpus, parents) => table(corpus).remove(parents),
    relabel: (corpus, parents, labels) => table(corpus).relabel(parents, labels),
    get: (corpus, keys) => table(corpus).get(keys),
    between: (corpus, parent, first, last) => table(corpus).between(parent, first, last),
    search: (corpus, request) => table(corpus).search(request),
    weigh: (corpus, request) => table(corpus).weigh(request),
    matching: (corpus, filter) => table(corpus).matching(filter),
  };
}

function createPassageTable(database: Database, corpus: Corpus, helper: WriteHelper | undefined) {
  const passages = `${corpus}_passages`;
  const labels = `${corpus}_passage_labels`;
  const words = createWordIndex(database, {
    name: `${corpus}_passage`,
    owner: passages,
    poolMax,
    totalMax: matchesMax,
  });
  const keyLists = createKeyLists(database);
  const isEmbedded = corpus === 'kb';
  const insertMany = insertRows(rowsAtOnce);
  /** Of the lists that are kept. */
  const pagesOf = new WeakMap<KeyList, IdPages>();
  return {
    replace(documents: readonly PassageDocument[]): void {
      const fresh = documents.flatMap((document) =>
        document.passages.map((passage) => rowOf(storable(document.parent), passage)),
      );
      const terms = helper?.cut(fresh) ?? cutHere(fresh);
      database.transaction(() => {
        removeParents(documents.map(({ parent }) => parent));
        const keys = insert(fresh);
        enlist(keys);
        fresh.forEach(({ vectors }, at) => {
          if (vectors !== undefined) writeVectors(database, vectorCorpus(corpus), keys[at] ?? 0, vectors);
        });
        insertLabels(fresh, keys);
        words.writeTerms(keys, terms);
      });
    },
    remove(parents: readonly string[]): number {
      return database.transaction(() => removeParents(parents));
    },
    relabel(parents: readonly string[], fresh: readonly string[]): void {
      const own = JSON.stringify([...new Set(fresh.map(storable))]);
      const among = `${passages} WHERE parent IN (SELECT value FROM json_each(?))`;
      const of = JSON.stringify(parents.map(storable));
      database.transaction(() => {
        database.run(
          `DELETE FROM ${labels} WHERE (label, key) IN (
             SELECT l.value, p.key FROM (SELECT key, labels FROM ${among}) p CROSS JOIN json_each(p.labels) l)`,
          of,
        );
        database.run(
          `INSERT INTO ${labels} (label, key) SELECT l.value, p.key FROM json_each(?) l CROSS JOIN (SELECT key FROM ${among}) p`,
          ...[own, of],
        );
        database.run(`UPDATE ${passages} SET labels = ? WHERE parent IN (SELECT value FROM json_each(?))`, own, of);
      });
    },
    get(keys: readonly number[]): StoredPassage[] {
      const rows = rowsByKey('*', keys);
      return keys.flatMap((key) => passageOf(rows.get(key)));
    },
    between(parent: string, first: number, last: number): StoredPassage[] {
      return database
        .all(
          `SELECT * FROM ${passages} WHERE parent = ? AND position BETWEEN ? AND ? ORDER BY position, id`,
          ...[storable(parent), first, last],
        )
        .flatMap(passageOf);
    },
    search({ query, filter, ...page }: PassageSearch): PassagePage {
      const { found, total, scoreMax } = words.find(query, keyFilter(filter ?? {}), page);
      const rows = rowsByKey(
        'key, id, parent, position',
        found.map(({ key }) => key),
      );
      return { hits: found.flatMap(({ key, score }) => hitOf(rows.get(key), score)), total, scoreMax };
    },
    weigh: (request: WeighRequest): WeighedWords => words.weigh(request),
    matching(filter: PassageFilter): IdPages {
      const { sql = `SELECT key FROM ${passages}`, values } = keyFilter(filter);
      const keys = keyLists(sql, values);
      const pages = pagesOf.get(keys) ?? createIdSet(keys).pages;
      pagesOf.set(keys, pages);
      return pages;
    },
  };

  /** Their keys, which follow one another: there is no other writer. */
  function insert(rows: readonly PassageRow[]): number[] {
    const keys: number[] = [];
    for (let first = 0; first < rows.length; first += rowsAtOnce) {
      const some = rows.slice(first, first + rowsAtOnce);
      const values = some.flatMap((row) => row.values);
      const last = database.run(some.length === rowsAtOnce ? insertMany : insertRows(some.length), ...values);
      for (let key = last - some.length + 1; key <= last; key += 1) keys.push(key);
    }
    return keys;
  }

  function insertRows(count: number): string {
    const places = Array.from({ length: count }, () => '(?, ?, ?, ?, ?, ?, ?)').join(', ');
    return `INSERT INTO ${passages} (id, parent, position, title, headings, body, labels) VALUES ${places}`;
  }

  /**
   * Lists them for every model, as a trigger would. With a trigger each row is a statement with a savepoint, which takes as
   * long again as the row itself.
   */
  function enlist(keys: readonly number[]): void {
    const [first, last] = [keys[0], keys.at(-1)];
    if (!isEmbedded || first === undefined || last === undefined) return;
    database.run(
      `INSERT INTO ${corpus}_unembedded (model, owner) SELECT m.key, p.key FROM ${corpus}_models m
       CROSS JOIN ${passages} p WHERE m.name IS NOT NULL AND p.key BETWEEN ? AND ?`,
      ...[first, last],
    );
  }

  /** One statement for each label: a long list takes half the time of many single rows. */
  function insertLabels(rows: readonly PassageRow[], keys: readonly number[]): void {
    const labelled = new Map<string, number[]>();
    rows.forEach(({ labels: own }, at) => {
      for (const label of own) {
        const labelledKeys = labelled.get(label);
        if (labelledKeys === undefined) labelled.set(label, [keys[at] ?? 0]);
        else labelledKeys.push(keys[at] ?? 0);
      }
    });
    for (const [label, own] of labelled)
      database.run(`INSERT INTO ${labels} (label, key) SELECT ?, value FROM json_each(?)`, label, JSON.stringify(own));
  }

  /** Asked for first, because a statement that may remove rows of other tables makes FTS5 write out what it has gathered. */
  function removeParents(parents: readonly string[]): number {
    const list = JSON.stringify(parents.map(storable));
    const wanted = 'parent IN (SELECT value FROM json_each(?))';
    if (database.get(`SELECT 1 FROM ${passages} WHERE ${wanted} LIMIT 1`, list) === undefined) return 0;
    return database.change(`DELETE FROM ${passages} WHERE ${wanted}`, list);
  }

  function rowsByKey(columns: string, keys: readonly number[]): Map<number, Row> {
    const rows = database.all(
      `SELECT ${columns} FROM ${passages} WHERE key IN (SELECT value FROM json_each(?))`,
      JSON.stringify(keys),
    );
    return new Map(rows.map((row) => [numberOf(row, 'key'), row]));
  }

  function keyFilter(filter: PassageFilter): KeyFilter {
    const selects: string[] = [];
    const values: SQLInputValue[] = [];
    for (const group of filter.labels ?? []) {
      selects.push(`SELECT key FROM ${labels} WHERE label IN (SELECT value FROM json_each(?))`);
      values.push(JSON.stringify(group));
    }
    if (filter.parents !== undefined) {
      // A list behind IN would be put in order by SQLite, which takes as long as half of the search for its passages. In
      // order they are, so that neighbours in the index are read one after the other.
      selects.push(`SELECT p.key FROM json_each(?) l CROSS JOIN ${passages} p ON p.parent = l.value`);
      values.push(JSON.stringify(filter.parents.toSorted()));
    }
    return { sql: selects.length === 0 ? undefined : selects.join(' INTERSECT '), values };
  }
}

interface PassageRow extends IndexedTexts {
  readonly values: readonly SQLInputValue[];
  readonly labels: readonly string[];
  readonly vectors: TextVectors | undefined;
}

function rowOf(parent: string, { id, position, vectors, ...passage }: NewPassage): PassageRow {
  const [title, body] = [storable(passage.title), storable(passage.body)];
  const headings = passage.headings.map(storable);
  const labels = [...new Set(passage.labels.map(storable))];
  return {
    values: [storable(id), parent, position, title, JSON.stringify(headings), body, JSON.stringify(labels)],
    ...{ title, heading: headings.join('\n'), body, labels, vectors },
  };
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
      headings: JSON.parse(textOf(row, 'headings')),
      body: textOf(row, 'body'),
      labels: JSON.parse(textOf(row, 'labels')),
    },
  ];
}

function hitOf(row: Row | undefined, score: number): PassageHit[] {
  if (row === undefined) return [];
  const [key, position] = [numberOf(row, 'key'), numberOf(row, 'position')];
  return [{ key, id: textOf(row, 'id'), parent: textOf(row, 'parent'), position, score }];
}
