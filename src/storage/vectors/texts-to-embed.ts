import { createHash } from 'node:crypto';
import { CarrelError } from '../../base/errors.ts';
import type { Statements } from '../dialect.ts';
import { ofEntryBefore } from '../entries/search-entries.ts';
import { batchesOf, numberOf, optionalTextOf, type Row, type SqlFragment, textOf, textsOf } from '../rows.ts';
import { findModel, isLive, type ModelRequest, ownersOf } from './models.ts';
import type { PutVectors, TextToEmbed, VectorCorpus } from './vector.ts';

interface WaitingRequest extends ModelRequest {
  readonly limit: number;
  /** If set, only texts of these owners. */
  readonly owners?: readonly number[] | undefined;
}

/** Returns the newest texts without vectors of this model, in key order; none if the model is not in use. */
export async function waitingTexts(
  db: Statements,
  { corpus, model, limit, owners }: WaitingRequest,
): Promise<TextToEmbed[]> {
  const stored = await findModel(db, { corpus, model });
  if (stored === undefined) return [];
  db.dialect.vectors.ensureIndex(corpus, stored);
  const { sql, values } = unembedded(db, stored.key, owners);
  const rows = await db.query(
    `SELECT ${textColumns[corpus]} FROM ${ownersOf[corpus]} o WHERE o.key IN (
       SELECT u.owner FROM ${corpus}_unembedded u WHERE ${sql} ORDER BY u.owner DESC LIMIT ?)
     ORDER BY o.key`,
    [...values, limit],
  );
  return rows.map(corpus === 'context' ? entryText : passageText);
}

/** Returns the owners of all texts without vectors of this model, in ascending order. */
export async function unembeddedOwners(db: Statements, { corpus, model }: ModelRequest): Promise<number[]> {
  const rows = await db.query(
    `SELECT u.owner FROM ${corpus}_unembedded u JOIN vector_models m ON m.key = u.model
     WHERE m.corpus = ? AND m.name = ? ORDER BY u.owner`,
    [corpus, model],
  );
  return ownersIn(rows);
}

const textColumns = {
  context: `o.key, o.text_content, o.text_hash, ${ofEntryBefore('text_content')} AS before`,
  kb: 'o.key, o.title, o.headings, o.body',
};

function entryText(row: Row): TextToEmbed {
  const before = optionalTextOf(row, 'before');
  return {
    owner: numberOf(row, 'key'),
    text: textOf(row, 'text_content'),
    textHash: textOf(row, 'text_hash'),
    ...(before === undefined ? {} : { before }),
  };
}

function passageText(row: Row): TextToEmbed {
  const text = textOf(row, 'body');
  const titlePath = titlePathOf(textOf(row, 'title'), textsOf(row, 'headings'));
  // Title and headings affect the vectors too.
  const hash = createHash('sha256').update(JSON.stringify([...titlePath, text]));
  return { owner: numberOf(row, 'key'), text, textHash: hash.digest('hex'), titlePath };
}

/** Returns title and headings, outermost first. A title that is also the first heading appears once. */
function titlePathOf(title: string, headings: readonly string[]): string[] {
  const path = headings[0] === title ? headings : [title, ...headings];
  return path.filter((part) => part !== '');
}

interface ClaimRequest extends WaitingRequest {
  /** Identifies the process. */
  readonly claimant: string;
  readonly leaseMs: number;
}

interface ClaimedTexts {
  /** In key order. */
  readonly texts: TextToEmbed[];
  /** Owners of the newest texts that other processes have leased. Listed only if fewer texts than `limit` were free. */
  readonly leasedElsewhere: number[];
}

/** Leases the newest free texts, so that other processes don't embed them too. New vectors or a changed text end the lease. */
export async function claimTexts(db: Statements, request: ClaimRequest): Promise<ClaimedTexts> {
  const { corpus, model, claimant, leaseMs, limit } = request;
  const { nowMs, skipLocked, integers } = db.dialect;
  const stored = await findModel(db, request);
  if (stored === undefined) return { texts: [], leasedElsewhere: [] };
  const { sql, values } = unembedded(db, stored.key, request.owners);
  const isFree = `(u.claimed_until IS NULL OR u.claimed_until < ${nowMs} OR u.claimed_by = ?)`;
  const free = await db.query(
    `SELECT u.owner FROM ${corpus}_unembedded u WHERE ${sql} AND ${isFree} ORDER BY u.owner DESC LIMIT ? ${skipLocked}`,
    [...values, claimant, limit],
  );
  const owners = ownersIn(free);
  if (owners.length > 0) {
    await db.query(
      `UPDATE ${corpus}_unembedded SET claimed_by = ?, claimed_until = ${nowMs} + ?
       WHERE model = ? AND owner IN (${integers})`,
      [claimant, leaseMs, stored.key, { list: owners }],
    );
  }
  const texts = owners.length === 0 ? [] : await waitingTexts(db, { corpus, model, limit, owners });
  if (owners.length === limit) return { texts, leasedElsewhere: [] };
  const leased = await db.query(
    `SELECT u.owner FROM ${corpus}_unembedded u WHERE ${sql} AND (u.claimed_by IS NULL OR u.claimed_by <> ?)
     ORDER BY u.owner DESC LIMIT ?`,
    [...values, claimant, limit],
  );
  return { texts, leasedElsewhere: ownersIn(leased) };
}

/** Ends all leases of a process on texts of a model. */
export async function releaseClaims(
  db: Statements,
  { corpus, model, claimant }: ModelRequest & Pick<ClaimRequest, 'claimant'>,
): Promise<void> {
  await db.query(
    `UPDATE ${corpus}_unembedded SET claimed_by = NULL, claimed_until = NULL
     WHERE claimed_by = ? AND model = (SELECT key FROM vector_models WHERE corpus = ? AND name = ?)`,
    [claimant, corpus, model],
  );
}

/** Max number of recorded removals. An in-memory index that has missed more is reloaded, which is then just as fast. */
const removalsMax = 100_000;

/**
 * Stores the vectors of texts and removes the texts from the waiting list. Skips texts that were changed or deleted meanwhile.
 * Returns the number of texts stored.
 */
export async function putVectors(db: Statements, { corpus, model, texts }: PutVectors & ModelRequest): Promise<number> {
  const { integers, vectors, rowsPerInsert } = db.dialect;
  const stored = await findModel(db, { corpus, model }, true);
  if (stored === undefined) return 0;
  const hashes = await currentHashes(
    db,
    corpus,
    texts.map(({ owner }) => owner),
  );
  const unchanged = texts.filter(({ owner, textHash }) => hashes.get(owner) === textHash);
  await vectors.beforeAddingVectors(db, corpus);
  const modelAndOwners = [stored.key, { list: unchanged.map(({ owner }) => owner) }];
  for (const table of ['vectors', 'unembedded']) {
    await db.query(`DELETE FROM ${corpus}_${table} WHERE model = ? AND owner IN (${integers})`, modelAndOwners);
  }
  const windows = unchanged.flatMap(({ owner, windows }) => windows.map((window) => ({ owner, ...window })));
  const dimensions = stored.dimensions ?? (await firstDimensions(stored.key));
  for (const batch of batchesOf(windows, rowsPerInsert)) {
    const placeholders = batch.map(() => '(?, ?, ?, ?, ?)').join(', ');
    await db.query(
      `INSERT INTO ${corpus}_vectors (model, owner, start_at, end_at, vector) VALUES ${placeholders}`,
      batch.flatMap(({ owner, start, end, vector }) => {
        if (vector.length !== dimensions) throw dimensionsError(model, dimensions ?? 0, vector.length);
        return [stored.key, owner, start, end, vectors.encode(vector)];
      }),
    );
  }
  const removals = `${corpus}_vector_removals`;
  await db.query(`DELETE FROM ${removals} WHERE number <= (SELECT max(number) FROM ${removals}) - ?`, [removalsMax]);
  // Start early: building the index of a few vectors takes no time.
  vectors.ensureIndex(corpus, { key: stored.key, dimensions });
  return unchanged.length;

  /** Sets the model's dimensions. If several processes write its first vectors, the first of them decides. */
  async function firstDimensions(key: number): Promise<number | undefined> {
    const [first] = windows;
    if (first === undefined) return undefined;
    const [row = {}] = await db.query(
      'UPDATE vector_models SET dimensions = coalesce(dimensions, ?) WHERE key = ? RETURNING dimensions',
      [first.vector.length, key],
    );
    return numberOf(row, 'dimensions');
  }
}

/** Creates the error for vectors of another length than the stored ones: a server may change its model but keep the name. */
function dimensionsError(model: string, stored: number, received: number): CarrelError {
  const message =
    `The embedding model ${model} returns vectors of ${received} dimensions, but the stored ones have ${stored}. ` +
    'Check which model the server runs, or set EMBEDDING_MODEL to another name.';
  return new CarrelError('unavailable', message, { data: { stored, given: received } });
}

/** Returns hashes of the current texts, by owner. Locks the owners' rows, in key order, until the transaction ends. */
async function currentHashes(
  db: Statements,
  corpus: VectorCorpus,
  owners: readonly number[],
): Promise<Map<number, string>> {
  const { integers, forUpdate } = db.dialect;
  const columns = corpus === 'context' ? 'o.key, o.text_hash' : textColumns.kb;
  const rows = await db.query(
    `SELECT ${columns} FROM ${ownersOf[corpus]} o WHERE o.key IN (${integers}) AND ${isLive[corpus]}
     ORDER BY o.key ${forUpdate}`,
    [{ list: owners }],
  );
  const hashOf = (row: Row) => (corpus === 'context' ? textOf(row, 'text_hash') : passageText(row).textHash);
  return new Map(rows.map((row) => [numberOf(row, 'key'), hashOf(row)]));
}

/** Returns the condition for rows `u` of a model and, if set, of these owners. */
function unembedded(db: Statements, model: number, owners: readonly number[] | undefined): SqlFragment {
  if (owners === undefined) return { sql: 'u.model = ?', values: [model] };
  return { sql: `u.model = ? AND u.owner IN (${db.dialect.integers})`, values: [model, { list: owners }] };
}

function ownersIn(rows: readonly Row[]): number[] {
  return rows.map((row) => numberOf(row, 'owner'));
}
