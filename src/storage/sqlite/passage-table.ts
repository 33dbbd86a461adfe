import type { PassageTable } from '../dialect.ts';
import { createIdSet, type IdPages } from '../id-set.ts';
import type { Condition } from '../rows.ts';
import { storable } from '../storable.ts';
import type { Database } from './database.ts';
import type { KeyList, KeyLists } from './key-lists.ts';

/** Labels are in a table of their own, beside the list that each passage has. */
export function createPassageTable(database: Database, keyLists: KeyLists): PassageTable {
  /** Of the lists that are kept. */
  const pagesOf = new WeakMap<KeyList, IdPages>();
  return {
    async complete(_, rows) {
      const [first, last] = [rows[0], rows.at(-1)];
      if (first === undefined || last === undefined) return;
      // As a trigger would. With a trigger each row is a statement with a savepoint, which takes as long again as the row itself.
      database.run(
        `INSERT INTO kb_unembedded (model, owner) SELECT m.key, p.key FROM kb_models m
         CROSS JOIN kb_passages p WHERE m.name IS NOT NULL AND p.key BETWEEN ? AND ?`,
        ...[first.key, last.key],
      );
      // One statement for each label: a long list takes half the time of many single rows.
      for (const [label, keys] of keysByLabel(rows)) {
        const list = JSON.stringify(keys);
        database.run('INSERT INTO kb_passage_labels (label, key) SELECT ?, value FROM json_each(?)', label, list);
      }
    },
    async relabel(_, parents, labels) {
      const among = 'kb_passages WHERE parent IN (SELECT value FROM json_each(?))';
      const of = JSON.stringify(parents);
      database.run(
        `DELETE FROM kb_passage_labels WHERE (label, key) IN (
           SELECT l.value, p.key FROM (SELECT key, labels FROM ${among}) p CROSS JOIN json_each(p.labels) l)`,
        of,
      );
      database.run(
        `INSERT INTO kb_passage_labels (label, key)
         SELECT l.value, p.key FROM json_each(?) l CROSS JOIN (SELECT key FROM ${among}) p`,
        ...[JSON.stringify(labels), of],
      );
    },
    filter({ labels = [], parents }) {
      const selects: Condition[] = labels.map((group) => ({
        sql: 'SELECT key FROM kb_passage_labels WHERE label IN (SELECT value FROM json_each(?))',
        values: [{ list: group.map(storable) }],
      }));
      if (parents !== undefined) {
        selects.push({
          // A list behind IN would be put in order by SQLite, which takes as long as half of the search for its passages. In
          // order they are, so that neighbours in the index are read one after the other.
          sql: 'SELECT p.key FROM json_each(?) l CROSS JOIN kb_passages p ON p.parent = l.value',
          values: [{ list: parents.map(storable).sort() }],
        });
      }
      if (selects.length === 0) return undefined;
      return {
        sql: selects.map(({ sql }) => sql).join(' INTERSECT '),
        values: selects.flatMap(({ values }) => values),
      };
    },
    async keys(_, select) {
      const keys = keyLists(select);
      const pages = pagesOf.get(keys) ?? createIdSet(keys).pages;
      pagesOf.set(keys, pages);
      return pages;
    },
  };
}

function keysByLabel(rows: Parameters<PassageTable['complete']>[1]): Map<string, number[]> {
  const labelled = new Map<string, number[]>();
  for (const { key, labels } of rows) {
    for (const label of labels) {
      const keys = labelled.get(label);
      if (keys === undefined) labelled.set(label, [key]);
      else keys.push(key);
    }
  }
  return labelled;
}
