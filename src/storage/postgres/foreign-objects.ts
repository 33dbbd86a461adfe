import type { Connection } from './connections/transaction.ts';
import { postgresMigrations } from './migrate.ts';

/** Returns the condition for objects that belong to no extension. pgvector may be in any schema. */
const ofNoExtension = (oid: string): string =>
  `NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = ${oid} AND d.deptype = 'e')`;

/**
 * Selects type, name and body of each object. The body of a trigger is the function that it calls. Omits indexes, because they
 * run no foreign code.
 */
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

/**
 * Returns triggers, functions, views, tables and rules in Carrel's schema that Carrel did not create, such as `trigger on_note`.
 */
export async function foreignObjects(statements: Pick<Connection, 'query'>): Promise<string[]> {
  const expected = ownObjects(postgresMigrations.join('\n'));
  const found = await statements.query(objectsQuery);
  return found
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
