import {
  blockOf,
  droppedAtOnce,
  type ModelState,
  type PutVectors,
  removalsKept,
  type StoredVector,
  scored,
  type TextToEmbed,
  type VectorCorpus,
  type VectorStore,
} from '../contracts/vectors.ts';
import { passageHash, titlePathOf } from '../text-hash.ts';
import { type Connections, numberOf, type Row, type Statements, textOf, textsOf } from './connections.ts';
import type { NearestIndexes } from './nearest-index.ts';
import { realsOf } from './real-array.ts';
import { isLive, modelKey, owners, writeVectors } from './write-vectors.ts';

/** All but what depends on the kind of owner's filter. */
export type VectorRows = Omit<VectorStore<never>, 'matching' | 'nearest'>;

export function createVectorRows(
  connections: Connections,
  corpus: VectorCorpus,
  indexes: NearestIndexes | undefined,
): VectorRows {
  const table = (name: string) => `carrel.${corpus}_${name}`;
  const unembedded = `${table('unembedded')} u JOIN ${table('models')} m ON m.key = u.model WHERE m.name = $1`;
  return {
    choose: (model) =>
      connections.write(async (statements) => {
        await modelKey(statements, corpus, model, undefined);
        await statements.query(
          `UPDATE ${table('models')} SET chosen = (SELECT max(chosen) + 1 FROM ${table('models')}) WHERE name = $1`,
          [model],
        );
      }),
    waiting: ({ model, limit, owners: among }) =>
      connections.read(async (statements) => {
        const list = `SELECT u.owner FROM ${unembedded} AND ($3::bigint[] IS NULL OR u.owner = ANY ($3::bigint[]))
          ORDER BY u.owner LIMIT $2`;
        const [texts, textOfRow] = corpus === 'kb' ? [passageTexts, passageText] : ([entryTexts, entryText] as const);
        const rows = await statements.query(`${texts} WHERE o.key IN (${list}) ORDER BY o.key`, [
          ...[model, limit, among ?? null],
        ]);
        await ensureIndex(statements, model);
        return rows.map(textOfRow);
      }),
    unembedded: ({ model }, options) =>
      connections.read(async (statements) => {
        const rows = await statements.query(`SELECT u.owner FROM ${unembedded} ORDER BY u.owner`, [model]);
        return rows.map((row) => numberOf(row, 'owner'));
      }, options),
    put: (request) => connections.write((statements) => put(statements, request)),
    state: ({ model }, options) =>
      connections.read(async (statements) => {
        const [own] = await statements.query(`SELECT key FROM ${table('models')} WHERE name = $1`, [model]);
        const [row = {}] = await statements.query(
          `SELECT (SELECT coalesce(max(key), 0) FROM ${table('vectors')} WHERE model = $1) AS last_key,
             (SELECT coalesce(min(number), 1) FROM ${table('vector_removals')}) AS first_removal,
             (SELECT coalesce(max(number), 0) FROM ${table('vector_removals')}) AS last_removal,
             (SELECT count(*) FROM ${table('unembedded')} WHERE model = $1) AS pending`,
          [own === undefined ? 0 : numberOf(own, 'key')],
        );
        return {
          chosen: own !== undefined,
          lastKey: numberOf(row, 'last_key'),
          firstRemoval: numberOf(row, 'first_removal'),
          lastRemoval: numberOf(row, 'last_removal'),
          pending: own === undefined ? await liveOwners(statements) : numberOf(row, 'pending'),
        };
      }, options),
    after: ({ model, after, limit }, options) =>
      connections.read(async (statements) => {
        const rows = await statements.query(
          `SELECT v.key, v.owner, array_send(v.vector) AS vector FROM ${table('vectors')} v
           WHERE v.model = (SELECT key FROM ${table('models')} WHERE name = $1) AND v.key > $2 ORDER BY v.key LIMIT $3`,
          [model, after, limit],
        );
        return blockOf(
          rows.map((row) => ({
            key: numberOf(row, 'key'),
            owner: numberOf(row, 'owner'),
            vector: realsOf(row['vector']),
          })),
        );
      }, options),
    pack: async () => {},
    removedAfter: ({ after, limit }, options) =>
      connections.read(async (statements) => {
        const rows = await statements.query(
          `SELECT number, vector FROM ${table('vector_removals')} WHERE number > $1 ORDER BY number LIMIT $2`,
          [after, limit],
        );
        return rows.map((row) => ({ number: numberOf(row, 'number'), key: numberOf(row, 'vector') }));
      }, options),
    get: ({ keys }, options) => connections.read((statements) => read(statements, keys), options),
    score: ({ query, keys }, options) =>
      connections.read(async (statements) => {
        const stored = await read(statements, keys);
        return stored.map((vector) => scored(query, vector));
      }, options),
    models: (options) =>
      connections.read(async (statements) => {
        const rows = await statements.query(
          `SELECT name, dimensions, (SELECT count(*) FROM ${table('vectors')} WHERE model = m.key) AS vectors,
             (SELECT count(*) FROM ${table('unembedded')} WHERE model = m.key) AS pending,
             (SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('${table('vectors_nearest_')}' || m.key)) AS indexed
           FROM ${table('models')} m WHERE name IS NOT NULL ORDER BY chosen`,
        );
        return rows.map((row) => ({ ...modelState(row), index: indexState(row) }));
      }, options),
    async drop(model) {
      const dropped = await connections.write((statements) => forget(statements, model));
      for (const key of dropped) await indexes?.remove(key);
      while (await connections.write((statements) => dropSome(statements)));
    },
  };

  function indexState(row: Row): ModelState['index'] {
    if (indexes === undefined) return 'memory';
    return row['indexed'] === true ? 'ready' : 'none';
  }

  async function read(statements: Statements, keys: readonly number[]): Promise<StoredVector[]> {
    const rows = await statements.query(
      `SELECT key, owner, start_at, end_at, array_send(vector) AS vector FROM ${table('vectors')}
       WHERE key = ANY ($1::bigint[])`,
      [keys],
    );
    return rows.map(vectorOf);
  }

  async function put(statements: Statements, { model, texts }: PutVectors): Promise<number> {
    const [known] = await statements.query(`SELECT key FROM ${table('models')} WHERE name = $1 FOR KEY SHARE`, [model]);
    if (known === undefined) return 0;
    const hashes = await currentHashes(
      statements,
      texts.map(({ owner }) => owner),
    );
    const taken = texts.filter(({ owner, textHash }) => hashes.get(owner) === textHash);
    await writeVectors(
      statements,
      corpus,
      taken.map(({ owner, windows }) => ({ owner, model, windows })),
    );
    await statements.query(
      `DELETE FROM ${table('vector_removals')}
       WHERE number <= (SELECT max(number) FROM ${table('vector_removals')}) - $1`,
      [removalsKept],
    );
    await ensureIndex(statements, model);
    return taken.length;
  }

  /** Locked in the order of their keys, as everybody does, until the vectors are stored. */
  async function currentHashes(statements: Statements, keys: readonly number[]): Promise<Map<number, string>> {
    if (corpus === 'kb') {
      const rows = await statements.query(
        `${passageTexts} WHERE o.key = ANY ($1::bigint[]) ORDER BY o.key FOR UPDATE OF o`,
        [keys],
      );
      return new Map(rows.map(passageText).map(({ owner, textHash }) => [owner, textHash]));
    }
    const rows = await statements.query(
      `SELECT o.key, o.text_hash FROM carrel.context_entries o
       WHERE o.key = ANY ($1::bigint[]) AND o.deleted_at IS NULL ORDER BY o.key FOR UPDATE OF o`,
      [keys],
    );
    return new Map(rows.map((row) => [numberOf(row, 'key'), textOf(row, 'text_hash')]));
  }

  async function liveOwners(statements: Statements): Promise<number> {
    const [row = {}] = await statements.query(
      `SELECT count(*) AS total FROM ${owners[corpus]} o WHERE ${isLive[corpus]}`,
    );
    return numberOf(row, 'total');
  }

  /** While a model has few vectors, its index is made at once. */
  async function ensureIndex(statements: Statements, model: string): Promise<void> {
    if (indexes === undefined) return;
    const [row] = await statements.query(
      `SELECT key, dimensions FROM ${table('models')} WHERE name = $1 AND dimensions IS NOT NULL`,
      [model],
    );
    if (row !== undefined) indexes.ensure({ key: numberOf(row, 'key'), dimensions: numberOf(row, 'dimensions') });
  }

  /** The keys of all models that are being dropped, this one and those that somebody did not finish. */
  async function forget(statements: Statements, model: string | undefined): Promise<number[]> {
    await statements.query(
      `DELETE FROM ${table('unembedded')} WHERE model = (SELECT key FROM ${table('models')} WHERE name = $1)`,
      [model ?? null],
    );
    // Without its name it is out of the way at once, for a model of the same name too.
    await statements.query(`UPDATE ${table('models')} SET name = NULL WHERE name = $1`, [model ?? null]);
    const rows = await statements.query(`SELECT key FROM ${table('models')} WHERE name IS NULL`);
    return rows.map((row) => numberOf(row, 'key'));
  }

  async function dropSome(statements: Statements): Promise<boolean> {
    const deleted = await statements.query(
      `DELETE FROM ${table('vectors')} WHERE key IN (
         SELECT v.key FROM ${table('models')} m JOIN ${table('vectors')} v ON v.model = m.key
         WHERE m.name IS NULL LIMIT ${droppedAtOnce}) RETURNING 1`,
    );
    if (deleted.length > 0) return true;
    // Others may have forgotten one just now, whose vectors they are deleting.
    await statements.query(
      `DELETE FROM ${table('models')} m
       WHERE name IS NULL AND NOT EXISTS (SELECT 1 FROM ${table('vectors')} WHERE model = m.key)`,
    );
    return false;
  }
}

const entryTexts = `SELECT o.key, o.text_content, o.text_hash,
    (SELECT p.text_content FROM carrel.context_entries p WHERE p.thread_id = o.thread_id AND p.key < o.key
       AND p.deleted_at IS NULL ORDER BY p.key DESC LIMIT 1) AS before
  FROM carrel.context_entries o`;

const passageTexts = 'SELECT o.key, o.title, o.headings, o.body FROM carrel.kb_passages o';

function entryText(row: Row): TextToEmbed {
  return {
    owner: numberOf(row, 'key'),
    text: textOf(row, 'text_content'),
    textHash: textOf(row, 'text_hash'),
    ...(row['before'] === null ? {} : { before: textOf(row, 'before') }),
  };
}

function passageText(row: Row): TextToEmbed {
  const text = textOf(row, 'body');
  const titlePath = titlePathOf(textOf(row, 'title'), textsOf(row, 'headings'));
  return { owner: numberOf(row, 'key'), text, textHash: passageHash(titlePath, text), titlePath };
}

function vectorOf(row: Row): StoredVector {
  return {
    key: numberOf(row, 'key'),
    owner: numberOf(row, 'owner'),
    start: numberOf(row, 'start_at'),
    end: numberOf(row, 'end_at'),
    vector: realsOf(row['vector']),
  };
}

function modelState(row: Row): Omit<ModelState, 'index'> {
  return {
    model: textOf(row, 'name'),
    dimensions: row['dimensions'] === null ? undefined : numberOf(row, 'dimensions'),
    vectors: numberOf(row, 'vectors'),
    pending: numberOf(row, 'pending'),
  };
}
