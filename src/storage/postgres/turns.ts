import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { VectorCorpus } from '../contracts/vectors.ts';
import type { Connections } from './connections.ts';

/** A process that dies in its turn holds up the others for so long. */
const turnMs = 30_000;
const waitMinMs = 50;
const waitMaxMs = 2_000;

const until = `(extract(epoch FROM clock_timestamp()) * 1000)::bigint + ${turnMs}`;

/** Of those that make or remove indexes of vectors, and what belongs to them. */
export function indexTurn(corpus: VectorCorpus): string {
  return `carrel.${corpus}_vectors_nearest`;
}

/**
 * Work that one process on the database does at a time. A row and no lock: between statements outside a transaction, a pooler
 * leaves a session no connection that could hold one.
 */
export async function inTurn(
  connections: Pick<Connections, 'write'>,
  name: string,
  work: () => Promise<unknown>,
): Promise<void> {
  const owner = Buffer.from(randomUUID());
  const change = (sql: string) => connections.write((statements) => statements.query(sql, [name, owner]));
  for (let waitMs = waitMinMs; (await change(take)).length === 0; waitMs = Math.min(waitMaxMs, waitMs * 1.5)) {
    await delay(waitMs * (0.5 + Math.random()));
  }
  const beat = setInterval(() => void change(renew).catch(() => {}), turnMs / 3).unref();
  try {
    await work();
  } finally {
    clearInterval(beat);
    await change(release).catch(() => {});
  }
}

const take = `INSERT INTO carrel.shared_parts AS p (kind, id, part, piece, content, expires_at)
  VALUES ('turn', $1, 0, 0, $2, ${until})
  ON CONFLICT (kind, id, part, piece) DO UPDATE SET content = excluded.content, expires_at = excluded.expires_at
  WHERE p.expires_at <= excluded.expires_at - ${turnMs} RETURNING piece`;
const own = "kind = 'turn' AND id = $1 AND part = 0 AND piece = 0 AND content = $2";
const renew = `UPDATE carrel.shared_parts SET expires_at = ${until} WHERE ${own}`;
const release = `DELETE FROM carrel.shared_parts WHERE ${own}`;
