import { createHash } from 'node:crypto';
import type { Statements } from '../dialect.ts';
import { ofEntryBefore } from '../entries/search-entries.ts';
import { type BoundValue, numberOf, optionalTextOf, type Row, textOf, textsOf } from '../rows.ts';
import { findModel, isLive, type ModelRequest, ownersOf } from './models.ts';
import type {
  ClaimedTexts,
  ClaimTextsRequest,
  ReleaseClaimsRequest,
  TextToEmbed,
  VectorCorpus,
  WaitingRequest,
} from './vector.ts';

/**
 * Returns the newest texts without vectors of this model, in key order. There are none if the model was never chosen or was
 * dropped.
 */
export async function waitingTexts(
  on: Statements,
  { corpus, model, limit, owners }: WaitingRequest & ModelRequest,
): Promise<TextToEmbed[]> {
  const { integers, vectors } = on.dialect;
  const known = await findModel(on, { corpus, model });
  if (known === undefined) return [];
  vectors.ensureIndex(corpus, known);
  const among = owners === undefined ? '' : `AND u.owner IN (${integers})`;
  const rows = await on.query(
    `SELECT ${textColumns[corpus]} FROM ${ownersOf[corpus]} o WHERE o.key IN (
       SELECT u.owner FROM ${corpus}_unembedded u WHERE u.model = ? ${among}
       ORDER BY u.owner DESC LIMIT ?)
     ORDER BY o.key`,
    [known.key, ...(owners === undefined ? [] : [{ list: owners }]), limit],
  );
  return rows.map(textFrom[corpus]);
}

/** Returns the owners of all texts without vectors of this model, in ascending order. */
export async function unembeddedOwners(on: Statements, { corpus, model }: ModelRequest): Promise<number[]> {
  const rows = await on.query(
    `SELECT u.owner FROM ${corpus}_unembedded u JOIN vector_models m ON m.key = u.model
     WHERE m.corpus = ? AND m.name = ? ORDER BY u.owner`,
    [corpus, model],
  );
  return rows.map((row) => numberOf(row, 'owner'));
}

/** Returns hashes of the current texts, by owner. Locks their rows in key order until the transaction ends. */
export async function currentHashes(
  on: Statements,
  corpus: VectorCorpus,
  owners: readonly number[],
): Promise<Map<number, string>> {
  const { integers, forUpdate } = on.dialect;
  const columns = corpus === 'context' ? 'o.key, o.text_hash' : textColumns.kb;
  const rows = await on.query(
    `SELECT ${columns} FROM ${ownersOf[corpus]} o WHERE o.key IN (${integers}) AND ${isLive[corpus]}
     ORDER BY o.key ${forUpdate}`,
    [{ list: owners }],
  );
  const hashOf = (row: Row) => (corpus === 'context' ? textOf(row, 'text_hash') : passageText(row).textHash);
  return new Map(rows.map((row) => [numberOf(row, 'key'), hashOf(row)]));
}

const textColumns = {
  context: `o.key, o.text_content, o.text_hash, ${ofEntryBefore('text_content')} AS before`,
  kb: 'o.key, o.title, o.headings, o.body',
};

const textFrom = { context: entryText, kb: passageText };

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
  return { owner: numberOf(row, 'key'), text, textHash: passageHash(titlePath, text), titlePath };
}

/** Hashes a passage as it is embedded: with title and headings, because they affect its vectors too. */
function passageHash(titlePath: readonly string[], body: string): string {
  return createHash('sha256')
    .update(JSON.stringify([...titlePath, body]))
    .digest('hex');
}

/** Returns title and headings, outermost first. A title that is also the first heading appears once. */
function titlePathOf(title: string, headings: readonly string[]): string[] {
  const named = title === '' || headings[0] === title ? headings : [title, ...headings];
  return named.filter((part) => part !== '');
}

type ClaimRequest = ClaimTextsRequest & ModelRequest;

/**
 * Leases texts to a claimant. Claims are columns of the list of waiting texts, so a text loses its claim when it gets its
 * vectors or changes. Skips rows that another transaction has locked, instead of waiting.
 */
export async function claimTexts(on: Statements, request: ClaimRequest): Promise<ClaimedTexts> {
  const { corpus, model, claimant, leaseMs, limit } = request;
  const { nowMs, skipLocked, integers } = on.dialect;
  const known = await findModel(on, request);
  if (known === undefined) return { texts: [], elsewhere: [] };
  const { sql, values } = among(on, known.key, request);
  const rows = await on.query(
    `SELECT u.owner FROM ${corpus}_unembedded u WHERE ${sql} AND ${isFree(on)}
     ORDER BY u.owner DESC LIMIT ? ${skipLocked}`,
    [...values, claimant, limit],
  );
  const owners = rows.map((row) => numberOf(row, 'owner'));
  await on.query(
    `UPDATE ${corpus}_unembedded SET claimed_by = ?, claimed_until = ${nowMs} + ?
     WHERE model = ? AND owner IN (${integers})`,
    [claimant, leaseMs, known.key, { list: owners }],
  );
  const texts = owners.length === 0 ? [] : await waitingTexts(on, { corpus, model, limit, owners });
  return { texts, elsewhere: owners.length < limit ? await claimedElsewhere(on, known.key, request) : [] };
}

/** Returns what `claimTexts` would find, without writing: usually nothing is free to claim. */
export async function claimableTexts(
  on: Statements,
  request: ClaimRequest,
): Promise<{ isFree: boolean; elsewhere: number[] }> {
  const known = await findModel(on, request);
  if (known === undefined) return { isFree: false, elsewhere: [] };
  const { sql, values } = among(on, known.key, request);
  const [free] = await on.query(
    `SELECT u.owner FROM ${request.corpus}_unembedded u WHERE ${sql} AND ${isFree(on)} LIMIT 1`,
    [...values, request.claimant],
  );
  if (free !== undefined) return { isFree: true, elsewhere: [] };
  return { isFree: false, elsewhere: await claimedElsewhere(on, known.key, request) };
}

/** Releases all claims of a claimant on texts of a model. */
export async function releaseClaims(
  on: Statements,
  { corpus, model, claimant }: ReleaseClaimsRequest & ModelRequest,
): Promise<void> {
  await on.query(
    `UPDATE ${corpus}_unembedded SET claimed_by = NULL, claimed_until = NULL
     WHERE claimed_by = ? AND model = (SELECT key FROM vector_models WHERE corpus = ? AND name = ?)`,
    [claimant, corpus, model],
  );
}

async function claimedElsewhere(on: Statements, model: number, request: ClaimRequest): Promise<number[]> {
  const { sql, values } = among(on, model, request);
  const rows = await on.query(
    `SELECT u.owner FROM ${request.corpus}_unembedded u
     WHERE ${sql} AND (u.claimed_by IS NULL OR u.claimed_by <> ?) ORDER BY u.owner DESC LIMIT ?`,
    [...values, request.claimant, request.limit],
  );
  return rows.map((row) => numberOf(row, 'owner'));
}

function among(
  on: Statements,
  model: number,
  { owners }: ClaimTextsRequest,
): { sql: string; values: readonly BoundValue[] } {
  if (owners === undefined) return { sql: 'u.model = ?', values: [model] };
  return { sql: `u.model = ? AND u.owner IN (${on.dialect.integers})`, values: [model, { list: owners }] };
}

/** Returns the SQL condition for texts that can be claimed: they have no claim, an expired one, or one of the same claimant. */
function isFree(on: Statements): string {
  return `(u.claimed_until IS NULL OR u.claimed_until < ${on.dialect.nowMs} OR u.claimed_by = ?)`;
}
