import { randomBytes, randomInt } from 'node:crypto';
import { inPieces } from '../../base/in-pieces.ts';
import type { CountRequest, ItemName, PartName, RateDecision, SharedStore } from '../../base/shared-store.ts';
import type { BackgroundWork } from '../background-work.ts';
import type { Statements } from '../dialect.ts';
import { type BoundValue, bytesOf, numberOf, type Row, textOf } from '../rows.ts';
import { storable } from '../storable.ts';
import type { Transactions } from '../transactions.ts';
import type { Notices } from './connections/notices.ts';

/** Size of a piece in bytes. Larger pieces need more memory; smaller pieces take more time. */
const pieceBytes = 1024 * 1024;

/** Min pause between two removals of expired rows. */
const sweepMs = 60_000;

/** Lifetime of the pieces of an unfinished stream. */
const writingMs = 3_600_000;

const centuryMs = 100 * 365 * 86_400_000;
const keyPart: PartName = { kind: 'key', id: 'signing', part: 0 };
const keyBytes = 32;

const nowMs = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';
const isAlive = `expires_at > ${nowMs}`;
const isItem = 'kind = ? AND id = ?';
const isPart = `${isItem} AND part = ?`;

const insert = `INSERT INTO carrel.shared_parts AS p (kind, id, part, piece, content, expires_at)
  VALUES (?, ?, ?, ?, ?, ${nowMs} + ?::bigint)`;
const put = `${insert} ON CONFLICT (kind, id, part, piece)
  DO UPDATE SET content = excluded.content, expires_at = excluded.expires_at`;
const add = `${put} WHERE p.expires_at <= ${nowMs} RETURNING piece`;

/** Removes expired rows. Skips rows that are locked, instead of waiting. */
const removeExpired = `DELETE FROM carrel.shared_parts WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM carrel.shared_parts WHERE NOT ${isAlive} ORDER BY expires_at LIMIT 1000 FOR UPDATE SKIP LOCKED))`;

/** Returns the values that identify an item. An id with a character that PostgreSQL can't store matches nothing. */
const itemValues = ({ kind, id }: ItemName): string[] => [kind, storable(id)];
const partValues = (part: PartName): BoundValue[] => [...itemValues(part), part.part];

export function createSharedStore(
  { read, write }: Transactions,
  notices: Notices,
  background: Pick<BackgroundWork, 'run'>,
): SharedStore {
  const select = (sql: string, values: BoundValue[]) => read((db) => db.query(sql, values), undefined);
  const change = (sql: string, values: BoundValue[]) => write((db) => db.query(sql, values), undefined);
  let sweptAt = Number.NEGATIVE_INFINITY;
  const sweep = (): void => {
    if (performance.now() - sweptAt < sweepMs) return;
    sweptAt = performance.now();
    void background.run('remove expired rows', () => change(removeExpired, []));
  };

  async function addPart(part: PartName, content: Uint8Array, ttlMs: number): Promise<boolean> {
    sweep();
    return (await change(add, [...partValues(part), 0, content, ttlMs])).length > 0;
  }

  async function readPart(part: PartName): Promise<Buffer | undefined> {
    const rows = await select(
      `SELECT content FROM carrel.shared_parts WHERE ${isPart} AND ${isAlive} ORDER BY piece`,
      partValues(part),
    );
    return rows.length === 0 ? undefined : Buffer.concat(rows.map(contentOf));
  }

  async function remove(item: ItemName, parts?: readonly number[]): Promise<void> {
    const sql = `DELETE FROM carrel.shared_parts WHERE ${isItem}`;
    if (parts === undefined) await change(sql, itemValues(item));
    else await change(`${sql} AND part = ANY (?::bigint[])`, [...itemValues(item), { list: parts }]);
  }

  return {
    add: addPart,
    async addStream(part, content, ttlMs) {
      // A negative number marks a draft, which no read returns.
      const draft = { ...part, part: -randomInt(1, 2 ** 40) };
      try {
        let bytes = 0;
        let piece = 0;
        for await (const data of inPieces(content, pieceBytes)) {
          await change(insert, [...partValues(draft), piece, data, writingMs]);
          bytes += data.length;
          piece += 1;
        }
        if (piece === 0) return (await addPart(part, Buffer.alloc(0), ttlMs)) ? 0 : undefined;
        sweep();
        return (await write(publish, { part, draft, ttlMs })) ? bytes : undefined;
      } finally {
        await remove(draft, [draft.part]).catch(() => {});
      }
    },
    async put(part, content, ttlMs) {
      sweep();
      await change(put, [...partValues(part), 0, content, ttlMs]);
    },
    read: readPart,
    async *stream(part) {
      for (let piece = 0; ; piece += 1) {
        const [row] = await select(
          `SELECT content FROM carrel.shared_parts WHERE ${isPart} AND piece = ? AND ${isAlive}`,
          [...partValues(part), piece],
        );
        if (row === undefined) return;
        yield contentOf(row);
      }
    },
    /** Reads only content that consists of one piece. */
    async readAll({ kind, part }) {
      const rows = await select(
        `SELECT content FROM carrel.shared_parts WHERE kind = ? AND part = ? AND piece = 0 AND ${isAlive}`,
        [kind, part],
      );
      return rows.map(contentOf);
    },
    async list({ kind, ids }) {
      const rows = await select(
        `SELECT id, part, sum(length(content)) AS bytes FROM carrel.shared_parts
         WHERE kind = ? ${ids ? 'AND id = ANY (?::text[])' : ''} AND part >= 0 AND ${isAlive}
         GROUP BY id, part ORDER BY id, part`,
        [kind, ...(ids ? [{ list: ids.map(storable) }] : [])],
      );
      return rows.map((row) => ({ id: textOf(row, 'id'), part: numberOf(row, 'part'), bytes: numberOf(row, 'bytes') }));
    },
    async touch(item, ttlMs) {
      await change(
        `UPDATE carrel.shared_parts SET expires_at = ${nowMs} + ?::bigint WHERE ${isItem} AND part >= 0 AND ${isAlive}`,
        [ttlMs, ...itemValues(item)],
      );
    },
    remove,
    async countCall(request) {
      sweep();
      return write(countCall, { ...request, key: storable(request.key) });
    },
    async signingKey() {
      const stored = await readPart(keyPart);
      if (stored !== undefined) return stored;
      const created = randomBytes(keyBytes);
      return (await addPart(keyPart, created, centuryMs)) ? created : ((await readPart(keyPart)) ?? created);
    },
    notify: (notice) => notices.notify(notice),
    onNotice: (listener) => notices.listen(listener),
  };
}

function contentOf(row: Row): Buffer {
  return Buffer.from(bytesOf(row, 'content'));
}

/** Turns a draft into the final part. Returns false if another writer has already published this part. */
async function publish(
  db: Statements,
  { part, draft, ttlMs }: { readonly part: PartName; readonly draft: PartName; readonly ttlMs: number },
): Promise<boolean> {
  await db.query(`DELETE FROM carrel.shared_parts WHERE ${isPart} AND NOT ${isAlive}`, partValues(part));
  const first = await db.query(
    `INSERT INTO carrel.shared_parts (kind, id, part, piece, content, expires_at)
     SELECT kind, id, ?::bigint, piece, content, ${nowMs} + ?::bigint FROM carrel.shared_parts
     WHERE ${isPart} AND piece = 0 ON CONFLICT DO NOTHING RETURNING piece`,
    [part.part, ttlMs, ...partValues(draft)],
  );
  if (first.length === 0) return false;
  await db.query(
    `UPDATE carrel.shared_parts SET part = ?, expires_at = ${nowMs} + ?::bigint WHERE ${isPart} AND piece > 0`,
    [part.part, ttlMs, ...partValues(draft)],
  );
  return true;
}

/** Slots per window. Calls are counted per slot, which limits the size of the row. */
const slots = 600;

/** Counts a call, unless the limit is reached. The row has pairs `[end of the slot, calls]`; see `createSlidingWindow`. */
async function countCall(db: Statements, { key, limit, windowMs }: CountRequest): Promise<RateDecision> {
  const [row = {}] = await db.query(
    `INSERT INTO carrel.shared_parts (kind, id, part, piece, content, expires_at)
     VALUES ('calls', ?, 0, 0, '[]', ${nowMs} + ?::bigint)
     ON CONFLICT (kind, id, part, piece) DO UPDATE SET expires_at = excluded.expires_at
     RETURNING content, ${nowMs} AS now`,
    [key, windowMs],
  );
  const now = numberOf(row, 'now');
  const slotMs = Math.max(1, windowMs / slots);
  const end = Math.ceil(now / slotMs) * slotMs;
  const log = (JSON.parse(contentOf(row).toString()) as [number, number][]).filter(([time]) => now - time < windowMs);
  const calls = log.reduce((sum, [, count]) => sum + count, 0);
  if (calls >= limit) return { ok: false, retryAfterMs: Math.min(windowMs, (log[0]?.[0] ?? now) + windowMs - now) };
  const last = log.at(-1);
  if (last?.[0] === end) last[1] += 1;
  else log.push([end, 1]);
  await db.query(
    `UPDATE carrel.shared_parts SET content = ? WHERE kind = 'calls' AND id = ? AND part = 0 AND piece = 0`,
    [Buffer.from(JSON.stringify(log)), key],
  );
  return { ok: true };
}
