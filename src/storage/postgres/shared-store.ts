import { randomBytes, randomInt } from 'node:crypto';
import { inPieces } from '../../base/in-pieces.ts';
import type { CountRequest, ListedPart, PartName, SharedStore, Taken, ThingName } from '../../base/shared-store.ts';
import type { Statements } from '../dialect.ts';
import { type BoundValue, bytesOf, numberOf, type Row, textOf } from '../rows.ts';
import { storable } from '../storable.ts';
import type { Transactions } from '../transactions.ts';
import type { Notices } from './notices.ts';

/** Larger pieces cost memory on both sides, smaller ones time. */
const pieceBytes = 1024 * 1024;

/** So often, at most, a process removes what has expired. */
const sweepMs = 60_000;

/** A stream that its writer has left behind is removed after this time. */
const writingMs = 3_600_000;

const centuryMs = 100 * 365 * 86_400_000;
const keyPart: PartName = { kind: 'key', id: 'signing', part: 0 };
const keyBytes = 32;

/** Ids come from callers, too, who may ask for any text. Ours have no such character, so nothing is found under it. */
const named = <Request extends ThingName>(request: Request): Request => ({ ...request, id: storable(request.id) });

export function createSharedStore({ read, write }: Transactions, notices: Notices): SharedStore {
  let sweptAt = Number.NEGATIVE_INFINITY;
  /** Whoever adds something removes what is old. */
  const sweep = (): void => {
    if (performance.now() - sweptAt < sweepMs) return;
    sweptAt = performance.now();
    // What is left is removed the next time.
    write(removeExpired, undefined).catch(() => {});
  };
  const readPart = async (part: PartName): Promise<Buffer | undefined> => {
    const pieces = await read(readPieces, named(part));
    return pieces.length === 0 ? undefined : Buffer.concat(pieces);
  };
  return {
    async add(part, content, lastsMs) {
      sweep();
      return write(addPart, { ...named(part), content, lastsMs });
    },
    async addStream(part, content, lastsMs) {
      sweep();
      // Nobody looks at negative numbers.
      const draft = { ...named(part), part: -randomInt(1, 2 ** 40) };
      try {
        let bytes = 0;
        let piece = 0;
        for await (const data of inPieces(content, pieceBytes)) {
          await write(addPiece, { ...draft, piece, content: data, lastsMs: writingMs });
          bytes += data.length;
          piece += 1;
        }
        if (piece === 0)
          return (await write(addPart, { ...named(part), content: Buffer.alloc(0), lastsMs })) ? 0 : undefined;
        return (await write(publish, { ...named(part), draft: draft.part, lastsMs })) ? bytes : undefined;
      } finally {
        await write(removeParts, { ...draft, parts: [draft.part] }).catch(() => {});
      }
    },
    async put(part, content, lastsMs) {
      sweep();
      await write(putPart, { ...named(part), content, lastsMs });
    },
    read: readPart,
    async *stream(part) {
      for (let piece = 0; ; piece += 1) {
        const data = await read(readPiece, { ...named(part), piece });
        if (data === undefined) return;
        yield data;
      }
    },
    readAll: (request) => read(readFirstPieces, request),
    list: ({ kind, ids }) => read(listParts, { kind, ...(ids ? { ids: ids.map(storable) } : {}) }),
    touch: (thing, lastsMs) => write(touchParts, { ...named(thing), lastsMs }),
    remove: (thing, parts) => write(removeParts, { ...named(thing), parts }),
    async take(request) {
      sweep();
      return write(takeTurn, { ...request, key: storable(request.key) });
    },
    async signingKey() {
      const known = await readPart(keyPart);
      if (known !== undefined) return known;
      const made = randomBytes(keyBytes);
      const isFirst = await write(addPart, { ...keyPart, content: made, lastsMs: centuryMs });
      return isFirst ? made : ((await readPart(keyPart)) ?? made);
    },
    tell: (notice) => notices.tell(notice),
    onNotice: (listener) => notices.listen(listener),
  };
}

const nowMs = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';
const isAlive = `expires_at > ${nowMs}`;

interface NewPart extends PartName {
  readonly content: Uint8Array;
  readonly lastsMs: number;
}

async function addPart(on: Statements, { kind, id, part, content, lastsMs }: NewPart): Promise<boolean> {
  await on.query(`DELETE FROM carrel.shared_parts WHERE kind = ? AND id = ? AND part = ? AND NOT ${isAlive}`, [
    ...[kind, id, part],
  ]);
  const rows = await on.query(
    `INSERT INTO carrel.shared_parts (kind, id, part, piece, content, expires_at)
     VALUES (?, ?, ?, 0, ?, ${nowMs} + ?::bigint) ON CONFLICT DO NOTHING RETURNING piece`,
    [kind, id, part, content, lastsMs],
  );
  return rows.length > 0;
}

async function addPiece(on: Statements, request: NewPart & { readonly piece: number }): Promise<void> {
  const { kind, id, part, piece, content, lastsMs } = request;
  await on.query(
    `INSERT INTO carrel.shared_parts (kind, id, part, piece, content, expires_at)
     VALUES (?, ?, ?, ?, ?, ${nowMs} + ?::bigint)`,
    [kind, id, part, piece, content, lastsMs],
  );
}

/** The first piece is what decides who is first. */
async function publish(
  on: Statements,
  { kind, id, part, draft, lastsMs }: PartName & { readonly draft: number; readonly lastsMs: number },
): Promise<boolean> {
  await on.query(`DELETE FROM carrel.shared_parts WHERE kind = ? AND id = ? AND part = ? AND NOT ${isAlive}`, [
    ...[kind, id, part],
  ]);
  const first = await on.query(
    `INSERT INTO carrel.shared_parts (kind, id, part, piece, content, expires_at)
     SELECT kind, id, ?::bigint, piece, content, ${nowMs} + ?::bigint FROM carrel.shared_parts
     WHERE kind = ? AND id = ? AND part = ? AND piece = 0 ON CONFLICT DO NOTHING RETURNING piece`,
    [part, lastsMs, kind, id, draft],
  );
  if (first.length === 0) return false;
  await on.query(
    `UPDATE carrel.shared_parts SET part = ?, expires_at = ${nowMs} + ?::bigint
     WHERE kind = ? AND id = ? AND part = ? AND piece > 0`,
    [part, lastsMs, kind, id, draft],
  );
  return true;
}

async function putPart(on: Statements, { kind, id, part, content, lastsMs }: NewPart): Promise<void> {
  await on.query(
    `INSERT INTO carrel.shared_parts (kind, id, part, piece, content, expires_at)
     VALUES (?, ?, ?, 0, ?, ${nowMs} + ?::bigint)
     ON CONFLICT (kind, id, part, piece) DO UPDATE SET content = excluded.content, expires_at = excluded.expires_at`,
    [kind, id, part, content, lastsMs],
  );
}

async function readPieces(on: Statements, { kind, id, part }: PartName): Promise<Uint8Array[]> {
  const rows = await on.query(
    `SELECT content FROM carrel.shared_parts WHERE kind = ? AND id = ? AND part = ? AND ${isAlive} ORDER BY piece`,
    [kind, id, part],
  );
  return rows.map((row) => bytesOf(row, 'content'));
}

/** For what is written at once. */
async function readFirstPieces(
  on: Statements,
  { kind, part }: { readonly kind: string; readonly part: number },
): Promise<Buffer[]> {
  const rows = await on.query(
    `SELECT content FROM carrel.shared_parts WHERE kind = ? AND part = ? AND piece = 0 AND ${isAlive}`,
    [kind, part],
  );
  return rows.map((row) => Buffer.from(bytesOf(row, 'content')));
}

async function readPiece(
  on: Statements,
  { kind, id, part, piece }: PartName & { readonly piece: number },
): Promise<Uint8Array | undefined> {
  const [row] = await on.query(
    `SELECT content FROM carrel.shared_parts WHERE kind = ? AND id = ? AND part = ? AND piece = ? AND ${isAlive}`,
    [kind, id, part, piece],
  );
  return row && bytesOf(row, 'content');
}

async function listParts(
  on: Statements,
  { kind, ids }: { readonly kind: string; readonly ids?: readonly string[] },
): Promise<ListedPart[]> {
  const among: { sql: string; values: BoundValue[] } =
    ids === undefined ? { sql: '', values: [] } : { sql: 'AND id = ANY (?::text[])', values: [{ list: ids }] };
  const rows = await on.query(
    `SELECT id, part, sum(length(content)) AS bytes FROM carrel.shared_parts
     WHERE kind = ? ${among.sql} AND part >= 0 AND ${isAlive} GROUP BY id, part ORDER BY id, part`,
    [kind, ...among.values],
  );
  return rows.map((row: Row) => ({
    id: textOf(row, 'id'),
    part: numberOf(row, 'part'),
    bytes: numberOf(row, 'bytes'),
  }));
}

async function touchParts(
  on: Statements,
  { kind, id, lastsMs }: ThingName & { readonly lastsMs: number },
): Promise<void> {
  await on.query(
    `UPDATE carrel.shared_parts SET expires_at = ${nowMs} + ?::bigint
     WHERE kind = ? AND id = ? AND part >= 0 AND ${isAlive}`,
    [lastsMs, kind, id],
  );
}

async function removeParts(
  on: Statements,
  { kind, id, parts }: ThingName & { readonly parts?: readonly number[] | undefined },
): Promise<void> {
  if (parts === undefined) await on.query('DELETE FROM carrel.shared_parts WHERE kind = ? AND id = ?', [kind, id]);
  else
    await on.query('DELETE FROM carrel.shared_parts WHERE kind = ? AND id = ? AND part = ANY (?::bigint[])', [
      ...[kind, id],
      { list: parts },
    ]);
}

/** In parts, and passing over what others hold: nobody waits for it. */
async function removeExpired(on: Statements): Promise<void> {
  await on.query(
    `DELETE FROM carrel.shared_parts WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM carrel.shared_parts WHERE NOT ${isAlive} ORDER BY expires_at LIMIT 1000 FOR UPDATE SKIP LOCKED))`,
  );
}

/** Of a window: calls are counted by such parts of it, so that no row grows with an operator's limit. */
const spans = 600;

/** A log of the calls in the last window, as `createSlidingWindow` keeps it in memory: `[end of the span, calls]`. */
async function takeTurn(on: Statements, { key, limit, windowMs }: CountRequest): Promise<Taken> {
  const [row = {}] = await on.query(
    `INSERT INTO carrel.shared_parts (kind, id, part, piece, content, expires_at)
     VALUES ('calls', ?, 0, 0, '[]', ${nowMs} + ?::bigint)
     ON CONFLICT (kind, id, part, piece) DO UPDATE SET expires_at = excluded.expires_at
     RETURNING content, ${nowMs} AS now`,
    [key, windowMs],
  );
  const now = numberOf(row, 'now');
  const spanMs = Math.max(1, windowMs / spans);
  const end = Math.ceil(now / spanMs) * spanMs;
  const log = (JSON.parse(Buffer.from(bytesOf(row, 'content')).toString()) as [number, number][]).filter(
    ([time]) => now - time < windowMs,
  );
  const calls = log.reduce((sum, [, count]) => sum + count, 0);
  if (calls >= limit) return { ok: false, retryAfterMs: Math.min(windowMs, (log[0]?.[0] ?? now) + windowMs - now) };
  const last = log.at(-1);
  if (last?.[0] === end) last[1] += 1;
  else log.push([end, 1]);
  await on.query(
    `UPDATE carrel.shared_parts SET content = ? WHERE kind = 'calls' AND id = ? AND part = 0 AND piece = 0`,
    [Buffer.from(JSON.stringify(log)), key],
  );
  return { ok: true };
}
