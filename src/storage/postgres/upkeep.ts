import type { Statements, StorageDescription, WordIndex } from '../dialect.ts';
import { numberOf, textOf } from '../rows.ts';
import { wordIndexes } from '../words/word-indexes.ts';
import { schemaVersion } from './migrate.ts';
import { labelMark } from './words/tsquery.ts';

export async function describe(on: Statements): Promise<StorageDescription> {
  const [row = {}] = await on.query(
    `SELECT current_setting('server_version') AS version,
       (SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c
        WHERE c.relnamespace = 'carrel'::regnamespace AND c.relkind = 'r') AS bytes`,
  );
  return {
    backend: 'postgres',
    version: textOf(row, 'version'),
    schema: await schemaVersion(on),
    bytes: numberOf(row, 'bytes'),
  };
}

/** Compares the stored data with the indexes. Returns the problems, one sentence each. */
export async function checkContent(on: Pick<Statements, 'query'>): Promise<string[]> {
  const problems: string[] = [];
  for (const index of wordIndexes) {
    if (await differs(on, index)) {
      problems.push(`The full-text index ${index.name}_words does not match the stored texts.`);
    }
  }
  const [row] = await on.query(
    `SELECT 1 FROM carrel.kb_passage_words w JOIN carrel.kb_passages o ON o.key = w.key
     WHERE length(ts_delete(w.words, ARRAY(SELECT '${labelMark}' || l FROM unnest(o.labels) l)))
       <> length(w.words) - cardinality(o.labels) LIMIT 1`,
  );
  if (row !== undefined) problems.push('The labels in kb_passage_words do not match the passages.');
  const [other] = await on.query(
    `SELECT 1 FROM carrel.kb_vectors v JOIN carrel.kb_passages o ON o.key = v.owner WHERE v.labels <> o.labels LIMIT 1`,
  );
  if (other !== undefined) problems.push('The labels in kb_vectors do not match the passages.');
  return problems;
}

async function differs(on: Pick<Statements, 'query'>, { name, owner, isIndexed }: WordIndex): Promise<boolean> {
  const [row = {}] = await on.query(
    `SELECT
       (SELECT count(*) FROM carrel.${owner} o LEFT JOIN carrel.${name}_terms t ON t.key = o.key
        LEFT JOIN carrel.${name}_words w ON w.key = o.key WHERE ${isIndexed} AND (t.key IS NULL OR w.key IS NULL)) AS missing,
       (SELECT count(*) FROM carrel.${name}_terms) AS terms,
       (SELECT count(*) FROM carrel.${name}_words) AS words,
       (SELECT sum(documents) FROM carrel.word_statistics WHERE word_index = '${name}') AS documents`,
  );
  const terms = numberOf(row, 'terms');
  return numberOf(row, 'missing') > 0 || numberOf(row, 'words') !== terms || numberOf(row, 'documents') !== terms;
}
