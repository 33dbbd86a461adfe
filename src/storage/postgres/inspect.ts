import type { Statements, StorageDescription, WordIndex } from '../dialect.ts';
import { numberOf, textOf } from '../rows.ts';
import { wordIndexes } from '../words/word-indexes.ts';
import type { Connection } from './connections/transaction.ts';
import { postgresMigrations, schemaVersion } from './migrate.ts';
import { labelMark } from './words/tsquery.ts';

export async function describe(db: Statements): Promise<StorageDescription> {
  const [row = {}] = await db.query(
    `SELECT current_setting('server_version') AS version,
       (SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c
        WHERE c.relnamespace = 'carrel'::regnamespace AND c.relkind = 'r') AS bytes`,
  );
  return {
    backend: 'postgres',
    version: textOf(row, 'version'),
    schema: await schemaVersion(db),
    bytes: numberOf(row, 'bytes'),
  };
}

/** Compares the stored data with the indexes. Returns the problems, one sentence each. */
export async function checkContent(db: Pick<Statements, 'query'>): Promise<string[]> {
  const problems: string[] = [];
  for (const index of wordIndexes) {
    if (await differs(db, index)) {
      problems.push(`The full-text index ${index.name}_words does not match the stored texts.`);
    }
  }
  const [row] = await db.query(
    `SELECT 1 FROM carrel.kb_passage_words w JOIN carrel.kb_passages o ON o.key = w.key
     WHERE length(ts_delete(w.words, ARRAY(SELECT '${labelMark}' || l FROM unnest(o.labels) l)))
       <> length(w.words) - cardinality(o.labels) LIMIT 1`,
  );
  if (row !== undefined) problems.push('The labels in kb_passage_words do not match the passages.');
  const [other] = await db.query(
    `SELECT 1 FROM carrel.kb_vectors v JOIN carrel.kb_passages o ON o.key = v.owner WHERE v.labels <> o.labels LIMIT 1`,
  );
  if (other !== undefined) problems.push('The labels in kb_vectors do not match the passages.');
  return problems;
}

async function differs(db: Pick<Statements, 'query'>, { name, owner, isIndexed }: WordIndex): Promise<boolean> {
  const [row = {}] = await db.query(
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

/** Returns the condition for objects that belong to no extension. pgvector may be in any schema. */
const ofNoExtension = (oid: string): string =>
  `NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = ${oid} AND d.deptype = 'e')`;

/** Selects type, name and body of each object; for a trigger, its function. Omits indexes, which run no foreign code. */
const objectsQuery = `
  SELECT 'trigger' AS type, t.tgname AS name, p.pronamespace::regnamespace || '.' || p.proname AS body
    FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid
    WHERE c.relnamespace = to_regnamespace('carrel') AND NOT t.tgisinternal
  UNION ALL SELECT 'function', p.proname, p.prosrc FROM pg_proc p
    WHERE p.pronamespace = to_regnamespace('carrel') AND ${ofNoExtension('p.oid')}
  UNION ALL SELECT CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'f' THEN 'foreign table' ELSE 'table' END,
    c.relname, '' FROM pg_class c
    WHERE c.relnamespace = to_regnamespace('carrel') AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND ${ofNoExtension('c.oid')}
  UNION ALL SELECT 'rule', r.rulename, '' FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class
    WHERE c.relnamespace = to_regnamespace('carrel') AND c.relkind IN ('r', 'p')
  ORDER BY 1, 2`;

/** Returns objects in Carrel's schema that Carrel did not create, such as `trigger on_note`. */
export async function foreignObjects(statements: Pick<Connection, 'query'>): Promise<string[]> {
  const expected = ownObjects(postgresMigrations.join('\n'));
  const objects = await statements.query(objectsQuery);
  return objects
    .filter(({ type, name, body }) => expected.get(`${type} ${name}`) !== body)
    .map(({ type, name }) => `${type} ${name}`);
}

/** Returns the objects that Carrel creates, each with its body as the query above returns it. */
function ownObjects(schema: string): Map<string, string> {
  const all = (pattern: RegExp): RegExpExecArray[] => [...schema.matchAll(pattern)];
  return new Map([
    ...all(/CREATE TABLE carrel\.(\w+)/g).map(([, name]): [string, string] => [`table ${name}`, '']),
    ...all(/CREATE FUNCTION carrel\.(\w+)\(\) [^$]*\$\$(.*?)\$\$/gs).map(([, name, body = '']): [string, string] => [
      `function ${name}`,
      body,
    ]),
    ...all(/CREATE TRIGGER (\w+) .*?EXECUTE FUNCTION (carrel\.\w+)\(\)/gs).map(
      ([, name, called = '']): [string, string] => [`trigger ${name}`, called],
    ),
  ]);
}
