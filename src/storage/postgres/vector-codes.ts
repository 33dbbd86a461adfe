import type { Place, Statements } from '../dialect.ts';
import { numberOf, type Row } from '../rows.ts';
import type { Connections } from './connections.ts';
import { realsOf } from './real-array.ts';
import type { Connection } from './transaction.ts';

export interface CodedModel {
  readonly key: number;
  readonly dimensions: number;
}

/**
 * A small copy of each passage's vectors, with what filters ask about: for filters that let through too much to compare all of
 * it and too little for the index of vectors.
 *
 * A number of a vector becomes three bits: whether it is above the mean of that place, and above and below it by a step. So the
 * number of bits in which two codes differ is the distance of the rounded vectors, place by place, which pgvector counts in
 * a tenth of a microsecond. Of 30,000 vectors of gte-small the ten nearest are among the 400 whose codes are nearest, whatever the
 * filter (recall@10 1.0, and 0.99 among 200); with one bit for each number, 0.95 of them are.
 *
 * Each label has the codes of its passages once more, as rows that lie side by side: what it lets through is read like a table of
 * its own, in a quarter of a microsecond each. Looked up one by one it would take five times as long.
 *
 * Like an index the codes can be made again at any time, so they are not part of the schema and not backed up.
 */
export interface VectorCodes {
  /** Made in the background, and from then on kept by triggers. Goes on where somebody was interrupted. */
  make(model: CodedModel): Promise<void>;
  remove(model: number): Promise<void>;
}

/** Of the tables that are not backed up. */
export const codeTables = /^kb_codes?_(sets_|labels_|wide_)?\d+(_\d+)?$/;

/** In deviations of all numbers: between 0.9 and 1.2 it makes no difference. */
const step = 0.9;

/** Vectors that the means are taken of. */
const sampled = 5_000;

/** The more, the more rows of a label are neighbours; meanwhile nobody can change these passages. */
const filledAtOnce = 5_000;

export const namesOf = (model: number) => ({
  table: `carrel.kb_codes_${model}`,
  /** Each combination of labels. A combination may be in it twice. */
  sets: `carrel.kb_code_sets_${model}`,
  /** The codes once for each label of their passage. */
  listed: `carrel.kb_codes_labels_${model}`,
  /** Which labels have a table of their own, whose name is this one with a number. */
  wide: `carrel.kb_codes_wide_${model}`,
  code: `carrel.kb_code_${model}`,
  added: `carrel.kb_codes_${model}_added`,
  removed: `carrel.kb_codes_${model}_removed`,
  moved: `carrel.kb_codes_${model}_moved`,
  wideAdded: `carrel.kb_codes_wide_${model}_added`,
  wideRemoved: `carrel.kb_codes_wide_${model}_removed`,
  /** Made last: while it is not there and valid, the codes are not complete. */
  index: `kb_codes_${model}_by_label`,
});

export function createVectorCodes(connections: Connections, extension: string): VectorCodes {
  return {
    async make(model) {
      const names = namesOf(model.key);
      if (await connections.read((statements) => areComplete(statements, model.key))) return;
      await connections.write((statements) => define(statements, model), { isLong: true });
      for (let after: number | undefined = 0; after !== undefined; ) {
        const from: number = after;
        after = await connections.write((statements) => fill(statements, model.key, from), { isLong: true });
      }
      await connections.alone(async (statements) => {
        await statements.query(`DROP INDEX CONCURRENTLY IF EXISTS carrel.${names.index}`);
        await statements.query(`CREATE INDEX CONCURRENTLY ${names.index} ON ${names.listed} (label)`);
        await statements.query(`VACUUM (ANALYZE) ${names.table}, ${names.sets}, ${names.listed}`);
      });
    },
    async remove(model) {
      await connections.write((statements) => statements.query(removal(model)));
    },
  };

  /** What was written before is filled in afterwards: whoever writes now is waited for, and the next ones have the triggers. */
  async function define(statements: Connection, { key: model, dimensions }: CodedModel): Promise<void> {
    const { table, sets, listed, added, removed, moved } = namesOf(model);
    if (await areDefined(statements, model)) return;
    const code = await codeFunction(statements, { key: model, dimensions });
    await statements.query('LOCK TABLE carrel.kb_passages, carrel.kb_vectors IN SHARE ROW EXCLUSIVE MODE');
    await statements.query(
      [
        removal(model),
        `CREATE TABLE ${sets} (labels bigint NOT NULL, members text[] COLLATE "C" NOT NULL)`,
        `CREATE INDEX ON ${sets} (labels)`,
        `CREATE INDEX ON ${sets} USING gin (members)`,
        `CREATE TABLE ${table} (key bigint PRIMARY KEY, labels bigint NOT NULL, parent text COLLATE "C" NOT NULL,
           code bit(${3 * dimensions}) NOT NULL)`,
        `CREATE INDEX ON ${table} (parent)`,
        `CREATE TABLE ${listed} (label bigint NOT NULL, key bigint NOT NULL, labels bigint NOT NULL,
           code bit(${3 * dimensions}) NOT NULL)`,
        `CREATE INDEX ON ${listed} (key)`,
        code,
        triggerFunction(
          added,
          `${addCodes('fresh')} WHERE s.model = ${model} ORDER BY o.key FOR SHARE OF o${intoCodes(model)}`,
        ),
        triggerFunction(removed, removeCodes(model)),
        triggerFunction(moved, moveCodes(model)),
        trigger(added, 'INSERT ON carrel.kb_vectors', 'NEW TABLE AS fresh'),
        trigger(removed, 'DELETE ON carrel.kb_vectors', 'OLD TABLE AS former'),
        trigger(moved, 'UPDATE ON carrel.kb_passages', 'OLD TABLE AS former NEW TABLE AS fresh'),
      ].join(';\n'),
    );
  }

  async function codeFunction(statements: Connection, { key, dimensions }: CodedModel): Promise<string> {
    const type = `${extension}.vector(${dimensions})`;
    const [row = {}] = await statements.query(
      `SELECT array_send(${extension}.avg(s.vector)::real[]) AS mean,
         avg(-(s.vector OPERATOR(${extension}.<#>) s.vector)) AS squares
       FROM (SELECT vector::${type} AS vector FROM carrel.kb_vectors WHERE key IN (
           SELECT key FROM carrel.kb_vectors WHERE model = ${key} ORDER BY hashint8(key) LIMIT ${sampled})) s`,
    );
    const mean = realsOf(row['mean']);
    const variance = (Number(row['squares']) - mean.reduce((sum, number) => sum + number * number, 0)) / dimensions;
    const above = [-step, 0, step].map((times) => {
      const bound = mean.map((number) => number + times * Math.sqrt(Math.max(0, variance)));
      return `${extension}.binary_quantize(v::${type} OPERATOR(${extension}.-) '[${bound.join()}]'::${type})`;
    });
    // In SQL the bounds would be parsed for each query, which takes a millisecond.
    return `CREATE FUNCTION ${namesOf(key).code}(v real[]) RETURNS bit LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
      AS $$ BEGIN RETURN (${above.join(' || ')})::bit(${3 * dimensions}); END $$`;
  }

  /** From the vector after this one on, with those that others add meanwhile; the last one, or undefined if there are no more. */
  async function fill(statements: Connection, model: number, after: number): Promise<number | undefined> {
    const following = `FROM carrel.kb_vectors v WHERE v.model = ${model} AND v.key > $1`;
    const [row = {}] = await statements.query(
      `SELECT max(key) AS last FROM (SELECT v.key ${following} ORDER BY v.key LIMIT ${filledAtOnce}) s`,
      [after],
    );
    if (row['last'] === null) return undefined;
    const last = numberOf(row, 'last');
    const some = `SELECT v.key, v.owner, v.vector ${following} AND v.key <= $2 ORDER BY v.key`;
    await statements.query(`${addCodes(`(${some} FOR KEY SHARE)`)} FOR SHARE OF o${intoCodes(model)}`, [after, last]);
    await statements.query(list(model, `(${unlisted(model, some)}) c`, 'c.members'), [after, last]);
    return last;
  }
}

function removal(model: number): string {
  const { table, sets, listed, code, added, removed, moved } = namesOf(model);
  return [
    ...[added, removed, moved].map(dropFunction),
    `DROP TABLE IF EXISTS ${table}, ${sets}, ${listed}`,
    wideRemoval(model),
    `DROP FUNCTION IF EXISTS ${code}(real[])`,
  ].join('; ');
}

/** Of the tables of single labels. */
export function wideRemoval(model: number): string {
  const { wideAdded, wideRemoved } = namesOf(model);
  return [
    ...[wideAdded, wideRemoved].map(dropFunction),
    `DO $$ DECLARE w text; BEGIN
       FOR w IN SELECT c.oid::regclass FROM pg_class c WHERE ${isWideTable(model)}
       LOOP EXECUTE 'DROP TABLE ' || w; END LOOP; END $$`,
  ].join('; ');
}

/** Of the tables `c`, those and the list of them. */
export function isWideTable(model: number): string {
  const name = namesOf(model).wide.replace('carrel.', '');
  return `c.relnamespace = 'carrel'::regnamespace AND c.relkind = 'r' AND c.relname ~ '^${name}(_[0-9]+)?$'`;
}

function dropFunction(name: string): string {
  return `DROP FUNCTION IF EXISTS ${name}() CASCADE`;
}

function hashOf(labels: string): string {
  return `hash_array_extended(${labels}, 0)`;
}

/**
 * The codes of new vectors. Their passages are locked, so that nobody gives them other labels meanwhile without finding the codes.
 * The statement is to be completed: by which passages, and by `intoCodes`.
 */
function addCodes(vectors: string): string {
  return `WITH l AS MATERIALIZED (SELECT s.key, s.vector, o.parent, o.labels AS members, ${hashOf('o.labels')} AS labels
    FROM ${vectors} s JOIN carrel.kb_passages o ON o.key = s.owner`;
}

function intoCodes(model: number): string {
  const { table, code } = namesOf(model);
  return `), sets AS (${addSets(model, 'l')}), coded AS (
      INSERT INTO ${table} SELECT l.key, l.labels, l.parent, ${code}(l.vector) FROM l ON CONFLICT DO NOTHING
      RETURNING key, labels, code)
    ${list(model, 'coded c JOIN l ON l.key = c.key', 'l.members')}`;
}

/** In the order of the labels: so the rows of one are neighbours, at least those of one statement. */
function list(model: number, codes: string, members: string): string {
  return `INSERT INTO ${namesOf(model).listed} SELECT m.label, c.key, c.labels, c.code FROM ${codes}
    CROSS JOIN LATERAL (SELECT DISTINCT ${labelHash('l')} AS label FROM unnest(${members}) l) m ORDER BY m.label`;
}

/** Codes of vectors that a process of an earlier version has filled in, which lists none. */
function unlisted(model: number, vectors: string): string {
  const { table, listed } = namesOf(model);
  return `SELECT c.key, c.labels, c.code, o.labels AS members
    FROM (${vectors}) s JOIN ${table} c ON c.key = s.key JOIN carrel.kb_passages o ON o.key = s.owner
    WHERE NOT EXISTS (SELECT 1 FROM ${listed} d WHERE d.key = c.key)`;
}

export function labelHash(label: string): string {
  return `hashtextextended(${label}, 0)`;
}

/** The second statement also sees what somebody listed for whom the first one waited. */
function removeCodes(model: number): string {
  const { table, listed } = namesOf(model);
  return [table, listed]
    .map((codes) => `DELETE FROM ${codes} c USING former f WHERE c.key = f.key AND f.model = ${model}`)
    .join('; ');
}

function moveCodes(model: number): string {
  const { table, listed } = namesOf(model);
  return `WITH l AS MATERIALIZED (SELECT f.key, f.parent, f.labels AS members, ${hashOf('f.labels')} AS labels
      FROM fresh f JOIN former o ON o.key = f.key
      WHERE o.labels IS DISTINCT FROM f.labels OR o.parent IS DISTINCT FROM f.parent), sets AS (${addSets(model, 'l')}), changed AS (
      UPDATE ${table} c SET labels = l.labels, parent = l.parent
      FROM l JOIN carrel.kb_vectors v ON v.owner = l.key AND v.model = ${model} WHERE c.key = v.key
      RETURNING c.key, c.labels, c.code, l.members), gone AS (
      DELETE FROM ${listed} d USING changed c WHERE d.key = c.key)
    ${list(model, 'changed c', 'c.members')}`;
}

function addSets(model: number, from: string): string {
  const { sets } = namesOf(model);
  return `INSERT INTO ${sets} SELECT DISTINCT ${from}.labels, ${from}.members FROM ${from}
    WHERE NOT EXISTS (SELECT 1 FROM ${sets} s WHERE s.labels = ${from}.labels AND s.members = ${from}.members)`;
}

function triggerFunction(name: string, body: string): string {
  return `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body}; RETURN NULL; END $$`;
}

export function trigger(name: string, event: string, rows: string): string {
  return `CREATE TRIGGER ${name.replace('carrel.', '')} AFTER ${event} REFERENCING ${rows}
    FOR EACH STATEMENT EXECUTE FUNCTION ${name}()`;
}

/** Whether all vectors of the model have their codes, and new ones get theirs: somebody may have made the table of vectors anew. */
export async function areComplete(on: Connection | Statements, model: number, place?: Place): Promise<boolean> {
  return isThere(on, `indexrelid = to_regclass('carrel.${namesOf(model).index}') AND indisvalid`, model, place);
}

function areDefined(on: Connection, model: number): Promise<boolean> {
  return isThere(on, `indrelid = to_regclass('${namesOf(model).listed}')`, model);
}

async function isThere(on: Connection | Statements, index: string, model: number, place?: Place): Promise<boolean> {
  const rows: Row[] = await on.query(
    `SELECT 1 FROM pg_index WHERE ${index} AND ${triggerExists('carrel.kb_vectors', namesOf(model).added)} LIMIT 1`,
    [],
    place,
  );
  return rows.length > 0;
}

export async function hasTrigger(
  on: Connection | Statements,
  table: string,
  name: string,
  place?: Place,
): Promise<boolean> {
  const rows: Row[] = await on.query(`SELECT 1 WHERE ${triggerExists(table, name)}`, [], place);
  return rows.length > 0;
}

function triggerExists(table: string, name: string): string {
  return `EXISTS (SELECT 1 FROM pg_trigger WHERE tgrelid = to_regclass('${table}') AND tgfoid = to_regproc('${name}'))`;
}
