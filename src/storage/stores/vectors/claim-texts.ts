import type {
  ClaimedTexts,
  ClaimTextsRequest,
  OtherClaim,
  ReleaseClaimsRequest,
  RenewClaimsRequest,
} from '../../contracts/vectors.ts';
import type { Statements } from '../../dialect.ts';
import { type BoundValue, type Condition, numberOf, optionalTextOf } from '../../rows.ts';
import { findModel, type ModelRequest } from './models.ts';

/**
 * Claims on texts that wait for vectors. They are columns of the list itself, so that whatever takes a text from the list
 * or puts it there anew ends the claim. All of these pass over rows that are locked and so wait for nobody: such a text is
 * just being claimed, given its vectors or changed.
 */
export async function claimTexts(
  on: Statements,
  request: ClaimTextsRequest & Pick<ModelRequest, 'corpus'>,
): Promise<ClaimedTexts> {
  const { corpus, claimant, leaseMs, limit } = request;
  const { nowMs, skipLocked, integers } = on.dialect;
  const among = await asked(on, request);
  if (among === undefined) return { owners: [], others: [] };
  const rows = await on.query(
    `SELECT u.owner FROM ${listOf(on, corpus)} u WHERE ${among.sql} AND ${isFree(on)}
     ORDER BY u.owner DESC LIMIT ? ${skipLocked}`,
    [...among.values, claimant, limit],
  );
  const owners = rows.map((row) => numberOf(row, 'owner'));
  await on.query(
    `UPDATE ${listOf(on, corpus)} SET claimed_by = ?, claimed_until = ${nowMs} + ?
     WHERE model = ? AND owner IN (${integers})`,
    [claimant, leaseMs, among.model, { list: owners }],
  );
  return { owners, others: owners.length < limit ? await othersOf(on, among, request) : [] };
}

/** What a claim would be told, and whether it would get anything. */
export async function otherClaims(
  on: Statements,
  request: ClaimTextsRequest & Pick<ModelRequest, 'corpus'>,
): Promise<{ free: boolean; others: OtherClaim[] }> {
  const among = await asked(on, request);
  if (among === undefined) return { free: false, others: [] };
  const [free] = await on.query(
    `SELECT u.owner FROM ${listOf(on, request.corpus)} u WHERE ${among.sql} AND ${isFree(on)} LIMIT 1`,
    [...among.values, request.claimant],
  );
  return free === undefined ? { free: false, others: await othersOf(on, among, request) } : { free: true, others: [] };
}

export async function renewClaims(
  on: Statements,
  { corpus, model, claimant, leaseMs, owners }: RenewClaimsRequest & ModelRequest,
): Promise<void> {
  const { nowMs, integers } = on.dialect;
  await update(on, {
    ...{ corpus, model, set: `claimed_until = ${nowMs} + ?`, values: [leaseMs] },
    where: { sql: `u.claimed_by = ? AND u.owner IN (${integers})`, values: [claimant, { list: owners }] },
  });
}

export async function releaseClaims(
  on: Statements,
  { corpus, model, claimants }: ReleaseClaimsRequest & ModelRequest,
): Promise<void> {
  await update(on, {
    ...{ corpus, model, set: 'claimed_by = NULL, claimed_until = NULL', values: [] },
    where: { sql: `u.claimed_by IN (${on.dialect.texts})`, values: [{ list: claimants }] },
  });
}

interface Asked extends Condition {
  /** The key of the model. */
  readonly model: number;
}

/** The rows of the list that a request is about; undefined for a model that was not chosen, or was dropped. */
async function asked(
  on: Statements,
  { corpus, model, owners }: ClaimTextsRequest & ModelRequest,
): Promise<Asked | undefined> {
  const known = await findModel(on, { corpus, model });
  if (known === undefined) return undefined;
  if (owners === undefined) return { sql: 'u.model = ?', values: [known.key], model: known.key };
  const sql = `u.model = ? AND u.owner IN (${on.dialect.integers})`;
  return { sql, values: [known.key, { list: owners }], model: known.key };
}

async function othersOf(
  on: Statements,
  among: Asked,
  { corpus, claimant, limit }: ClaimTextsRequest & Pick<ModelRequest, 'corpus'>,
): Promise<OtherClaim[]> {
  const rows = await on.query(
    `SELECT u.owner, u.claimed_by FROM ${listOf(on, corpus)} u
     WHERE ${among.sql} AND (u.claimed_by IS NULL OR u.claimed_by <> ?) ORDER BY u.owner DESC LIMIT ?`,
    [...among.values, claimant, limit],
  );
  return rows.map((row) => ({ owner: numberOf(row, 'owner'), claimant: optionalTextOf(row, 'claimed_by') }));
}

interface ClaimUpdate extends ModelRequest {
  readonly set: string;
  readonly values: readonly BoundValue[];
  readonly where: Condition;
}

async function update(on: Statements, { corpus, model, set, values, where }: ClaimUpdate): Promise<void> {
  const { skipLocked, integers } = on.dialect;
  const known = await findModel(on, { corpus, model });
  if (known === undefined) return;
  const rows = await on.query(
    `SELECT u.owner FROM ${listOf(on, corpus)} u WHERE u.model = ? AND ${where.sql} ${skipLocked}`,
    [known.key, ...where.values],
  );
  const owners = rows.map((row) => numberOf(row, 'owner'));
  await on.query(`UPDATE ${listOf(on, corpus)} SET ${set} WHERE model = ? AND owner IN (${integers})`, [
    ...values,
    known.key,
    { list: owners },
  ]);
}

/** What somebody has claimed before is theirs: they may not have heard of it. */
function isFree(on: Statements): string {
  return `(u.claimed_until IS NULL OR u.claimed_until < ${on.dialect.nowMs} OR u.claimed_by = ?)`;
}

function listOf(on: Statements, corpus: ModelRequest['corpus']): string {
  return `${on.dialect.schema}${corpus}_unembedded`;
}
