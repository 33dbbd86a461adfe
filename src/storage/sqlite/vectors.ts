import assert from 'node:assert/strict';
import {
  blockOf,
  dimensionsError,
  droppedAtOnce,
  type ModelState,
  type PutVectors,
  type RemovedAfter,
  type RemovedVector,
  removalsKept,
  type ScoredVector,
  type ScoreRequest,
  type StoredVector,
  scored,
  type TextToEmbed,
  type TextVectors,
  type VectorBlock,
  type VectorCorpus,
  type VectorState,
  type VectorsAfter,
  vectorCorpora,
  type WaitingRequest,
} from '../contracts/vectors.ts';
import { passageHash, titlePathOf } from '../text-hash.ts';
import { type Database, numberOf, type Row, textOf } from './database.ts';
import { bytesOf, packNext, vectorsAfter } from './vector-blocks.ts';

/** The vectors of all corpora in SQLite, on the thread that has the connection. */
export interface VectorTables {
  choose(corpus: VectorCorpus, model: string): void;
  waiting(corpus: VectorCorpus, request: WaitingRequest): TextToEmbed[];
  unembedded(corpus: VectorCorpus, request: { readonly model: string }): number[];
  put(corpus: VectorCorpus, request: PutVectors): number;
  state(corpus: VectorCorpus, request: { readonly model: string }): VectorState;
  after(corpus: VectorCorpus, request: VectorsAfter): VectorBlock;
  /** One block. Where to go on; undefined when all is packed. */
  pack(corpus: VectorCorpus, model: string, after: number): number | undefined;
  removedAfter(corpus: VectorCorpus, request: RemovedAfter): RemovedVector[];
  get(corpus: VectorCorpus, request: { readonly keys: readonly number[] }): StoredVector[];
  score(corpus: VectorCorpus, request: ScoreRequest): ScoredVector[];
  models(corpus: VectorCorpus): ModelState[];
  /** A part of the work. Whether more is left. */
  drop(corpus: VectorCorpus, model: string | undefined): boolean;
}

export function createVectorTables(database: Database): VectorTables {
  const tables = new Map(vectorCorpora.map((corpus) => [corpus, createVectorTable(database, corpus)]));
  const table = (corpus: VectorCorpus) => {
    const found = tables.get(corpus);
    assert(found, 'no such corpus');
    return found;
  };
  return {
    choose: (corpus, model) => table(corpus).choose(model),
    waiting: (corpus, request) => table(corpus).waiting(request),
    unembedded: (corpus, request) => table(corpus).unembedded(request),
    put: (corpus, request) => table(corpus).put(request),
    state: (corpus, request) => table(corpus).state(request),
    after: (corpus, request) => table(corpus).after(request),
    pack: (corpus, model, after) => table(corpus).pack(model, after),
    removedAfter: (corpus, request) => table(corpus).removedAfter(request),
    get: (corpus, request) => table(corpus).get(request),
    score: (corpus, { query, keys }) =>
      table(corpus)
        .get({ keys })
        .map((stored) => scored(query, stored)),
    models: (corpus) => table(corpus).models(),
    drop: (corpus, model) => table(corpus).drop(model),
  };
}

/**
 * Stores the vectors of a text in place of those it had of the same model, and takes it from the list of what waits.
 * Part of the transaction that runs. A model that was not chosen is chosen by it.
 */
export function writeVectors(database: Database, corpus: VectorCorpus, owner: number, given: TextVectors): void {
  const [first] = given.windows;
  const model = modelKey(database, corpus, given.model, first?.vector.length);
  database.change(`DELETE FROM ${corpus}_vectors WHERE owner = ? AND model = ?`, owner, model);
  for (const { start, end, vector } of given.windows) {
    database.run(
      `INSERT INTO ${corpus}_vectors (owner, model, start_at, end_at, vector) VALUES (?, ?, ?, ?, ?)`,
      ...[owner, model, start, end, new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)],
    );
  }
  database.change(`DELETE FROM ${corpus}_unembedded WHERE model = ? AND owner = ?`, model, owner);
}

const owners = { context: 'context_entries', kb: 'kb_passages' } as const;
const isLive = { context: 'o.deleted_at IS NULL', kb: 'TRUE' } as const;

function createVectorTable(database: Database, corpus: VectorCorpus) {
  const known = (model: string) => database.get(`SELECT key, dimensions FROM ${corpus}_models WHERE name = ?`, model);
  const unembedded = `${corpus}_unembedded u JOIN ${corpus}_models m ON m.key = u.model WHERE m.name = ?`;
  return {
    choose(model: string): void {
      database.transaction(() => {
        modelKey(database, corpus, model, undefined);
        database.change(
          `UPDATE ${corpus}_models SET chosen = (SELECT max(chosen) + 1 FROM ${corpus}_models) WHERE name = ?`,
          model,
        );
      });
    },
    waiting({ model, limit, owners }: WaitingRequest): TextToEmbed[] {
      const among = owners === undefined ? '' : 'AND u.owner IN (SELECT value FROM json_each(?))';
      const list = `SELECT u.owner FROM ${unembedded} ${among} ORDER BY u.owner LIMIT ?`;
      const values = [model, ...(owners === undefined ? [] : [JSON.stringify(owners)]), limit];
      if (corpus === 'kb') return database.all(`${passageTexts} WHERE o.key IN (${list})`, ...values).map(passageText);
      return database.all(`${entryTexts} WHERE o.key IN (${list})`, ...values).map(entryText);
    },
    unembedded({ model }: { model: string }): number[] {
      const rows = database.all(`SELECT u.owner FROM ${unembedded} ORDER BY u.owner`, model);
      return rows.map((row) => numberOf(row, 'owner'));
    },
    put({ model, texts }: PutVectors): number {
      return database.transaction(() => {
        if (known(model) === undefined) return 0;
        const taken = texts.filter(({ owner, textHash }) => currentHash(owner) === textHash);
        for (const { owner, windows } of taken) writeVectors(database, corpus, owner, { model, windows });
        forgetOldRemovals();
        return taken.length;
      });
    },
    state({ model }: { model: string }): VectorState {
      const removals = `${corpus}_vector_removals`;
      const own = known(model);
      const key = own === undefined ? 0 : numberOf(own, 'key');
      // Each of these is one step down an index, except for the list of what waits, which is short.
      const row =
        database.get(
          `SELECT (SELECT coalesce(max(key), 0) FROM ${corpus}_vectors WHERE model = ?1) AS last_key,
             (SELECT coalesce(min(number), 1) FROM ${removals}) AS first_removal,
             (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = '${removals}') AS last_removal,
             (SELECT count(*) FROM ${corpus}_unembedded WHERE model = ?1) AS pending`,
          key,
        ) ?? {};
      return {
        chosen: own !== undefined,
        lastKey: numberOf(row, 'last_key'),
        firstRemoval: numberOf(row, 'first_removal'),
        lastRemoval: numberOf(row, 'last_removal'),
        pending: own === undefined ? liveOwners() : numberOf(row, 'pending'),
      };
    },
    after({ model, ...range }: VectorsAfter): VectorBlock {
      const own = known(model);
      return own === undefined ? blockOf([]) : vectorsAfter(database, corpus, numberOf(own, 'key'), range);
    },
    pack(model: string, after: number): number | undefined {
      return database.transaction(() => {
        const own = known(model);
        return own === undefined ? undefined : packNext(database, corpus, numberOf(own, 'key'), after);
      });
    },
    removedAfter({ after, limit }: RemovedAfter): RemovedVector[] {
      return database
        .all(
          `SELECT number, vector FROM ${corpus}_vector_removals WHERE number > ? ORDER BY number LIMIT ?`,
          ...[after, limit],
        )
        .map((row) => ({ number: numberOf(row, 'number'), key: numberOf(row, 'vector') }));
    },
    get({ keys }: { keys: readonly number[] }): StoredVector[] {
      return database
        .all(`SELECT * FROM ${corpus}_vectors WHERE key IN (SELECT value FROM json_each(?))`, JSON.stringify([...keys]))
        .map(vectorOf);
    },
    models(): ModelState[] {
      const rows = database.all(
        `SELECT name, dimensions, (SELECT count(*) FROM ${corpus}_vectors WHERE model = m.key) AS vectors,
           (SELECT count(*) FROM ${corpus}_unembedded WHERE model = m.key) AS pending
         FROM ${corpus}_models m WHERE name IS NOT NULL ORDER BY chosen`,
      );
      return rows.map((row) => ({
        model: textOf(row, 'name'),
        dimensions: row['dimensions'] === null ? undefined : numberOf(row, 'dimensions'),
        vectors: numberOf(row, 'vectors'),
        pending: numberOf(row, 'pending'),
        index: 'memory',
      }));
    },
    drop(model: string | undefined): boolean {
      return database.transaction(() => {
        // Without its name it is out of the way at once, for a model of the same name too.
        database.change(
          `DELETE FROM ${corpus}_unembedded WHERE model = (SELECT key FROM ${corpus}_models WHERE name = ?)`,
          model ?? null,
        );
        database.change(`UPDATE ${corpus}_models SET name = NULL WHERE name = ?`, model ?? null);
        database.change(
          `DELETE FROM ${corpus}_vector_blocks WHERE model IN (SELECT key FROM ${corpus}_models WHERE name IS NULL)`,
        );
        const deleted = database.change(
          `DELETE FROM ${corpus}_vectors WHERE key IN (
             SELECT v.key FROM ${corpus}_models m JOIN ${corpus}_vectors v ON v.model = m.key
             WHERE m.name IS NULL LIMIT ${droppedAtOnce})`,
        );
        if (deleted > 0) return true;
        database.change(`DELETE FROM ${corpus}_models WHERE name IS NULL`);
        return false;
      });
    },
  };

  function currentHash(owner: number): string | undefined {
    if (corpus === 'kb') {
      const row = database.get(`${passageTexts} WHERE o.key = ?`, owner);
      return row === undefined ? undefined : passageText(row).textHash;
    }
    const row = database.get('SELECT text_hash FROM context_entries WHERE key = ? AND deleted_at IS NULL', owner);
    return row === undefined ? undefined : textOf(row, 'text_hash');
  }

  function liveOwners(): number {
    const row = database.get(`SELECT count(*) AS total FROM ${owners[corpus]} o WHERE ${isLive[corpus]}`) ?? {};
    return numberOf(row, 'total');
  }

  function forgetOldRemovals(): void {
    const removals = `${corpus}_vector_removals`;
    database.change(`DELETE FROM ${removals} WHERE number <= (SELECT max(number) FROM ${removals}) - ?`, removalsKept);
  }
}

/** Chooses the model if nobody has, and tells it how long its vectors are. */
function modelKey(database: Database, corpus: VectorCorpus, model: string, dimensions: number | undefined): number {
  const row = database.get(`SELECT key, dimensions FROM ${corpus}_models WHERE name = ?`, model);
  if (row === undefined) {
    const key = database.run(
      `INSERT INTO ${corpus}_models (name, dimensions, chosen)
       VALUES (?, ?, (SELECT coalesce(max(chosen), 0) + 1 FROM ${corpus}_models))`,
      ...[model, dimensions ?? null],
    );
    database.change(
      `INSERT INTO ${corpus}_unembedded (model, owner) SELECT ?, o.key FROM ${owners[corpus]} o WHERE ${isLive[corpus]}`,
      key,
    );
    return key;
  }
  const key = numberOf(row, 'key');
  const stored = row['dimensions'];
  if (dimensions === undefined || stored === dimensions) return key;
  if (typeof stored === 'number') throw dimensionsError(model, stored, dimensions);
  database.change(`UPDATE ${corpus}_models SET dimensions = ? WHERE key = ?`, dimensions, key);
  return key;
}

const entryTexts = `SELECT o.key, o.text_content, o.text_hash,
    (SELECT p.text_content FROM context_entries p WHERE p.thread_id = o.thread_id AND p.key < o.key
       AND p.deleted_at IS NULL ORDER BY p.key DESC LIMIT 1) AS before
  FROM context_entries o`;

const passageTexts = 'SELECT o.key, o.title, o.headings, o.body FROM kb_passages o';

function entryText(row: Row): TextToEmbed {
  return {
    owner: numberOf(row, 'key'),
    text: textOf(row, 'text_content'),
    textHash: textOf(row, 'text_hash'),
    ...(row['before'] === null ? {} : { before: textOf(row, 'before') }),
  };
}

function passageText(row: Row): TextToEmbed {
  const [text, headings] = [textOf(row, 'body'), JSON.parse(textOf(row, 'headings'))];
  const titlePath = titlePathOf(textOf(row, 'title'), headings);
  return { owner: numberOf(row, 'key'), text, textHash: passageHash(titlePath, text), titlePath };
}

function vectorOf(row: Row): StoredVector {
  return {
    key: numberOf(row, 'key'),
    owner: numberOf(row, 'owner'),
    start: numberOf(row, 'start_at'),
    end: numberOf(row, 'end_at'),
    vector: new Float32Array(bytesOf(row, 'vector').buffer),
  };
}
