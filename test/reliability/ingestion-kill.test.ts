import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type Carrel, makeFolder, startCarrel } from '../support/child-program.ts';
import { engineClient, formOf } from '../support/engine-client.ts';
import { size } from '../support/sizes.ts';

/**
 * The long mode has 200 kills among 2,000 files: `CARREL_INGEST_KILLS=200 node test/reliability/ingestion-kill.test.ts`. This
 * avoids the ten-minute limit per file of `scripts/test.ts`.
 */
const kills = size({ quick: 3, full: 10, variable: 'CARREL_INGEST_KILLS' });
const files = kills * 10;
const sendersAtOnce = 4;

test(`contract §6: ${kills} times kill -9 during the ingestion of ${files} files: every file once`, async (t) => {
  const dataDir = join(makeFolder(t), 'data');
  const accepted = new Set<number>();
  const waiting = Array.from({ length: files }, (_, index) => index);
  const start = () => startCarrel(t, ['engine'], { dataDir, env: { EMBEDDING_PROVIDER: 'none', LOG_LEVEL: 'warn' } });

  for (let killed = 0; killed < kills; killed += 1) {
    const engine = await start();
    const batch = waiting.splice(0, Math.ceil(files / kills));
    const answers = Math.floor(Math.random() * batch.length);
    const reached = Promise.withResolvers<void>();
    const sending = sendAll(engine, batch, accepted, (count) => count >= answers && reached.resolve());
    // The kill comes at a random moment of an upload, a transaction or a job. It first counts answers, so that a busy machine
    // gets as far as an idle one, and then waits a random time, so that it doesn't always follow an answer.
    await Promise.race([answers === 0 ? undefined : reached.promise, sending]);
    // The first kill always interrupts a job.
    if (killed === 0) await processing(engine);
    else await delay(Math.random() ** 3 * 3_000);
    engine.process.kill('SIGKILL');
    await engine.exited;
    // Unacknowledged files are sent again, as a client would.
    waiting.push(...(await sending));
  }

  const last = await start();
  assert.deepEqual(await sendAll(last, waiting, accepted), []);
  assert.equal(accepted.size, files);
  await drained(last);
  last.process.kill('SIGKILL');
  await last.exited;
  checkFiles(dataDir);
});

/** Returns the files without an answer. */
async function sendAll(
  engine: Carrel,
  batch: readonly number[],
  accepted: Set<number>,
  onAnswer: (count: number) => void = () => {},
): Promise<number[]> {
  const client = engineClient(engine);
  const queue = [...batch];
  const unanswered: number[] = [];
  let answered = 0;
  const send = async (): Promise<void> => {
    for (let index = queue.shift(); index !== undefined; index = queue.shift()) {
      try {
        const { status, json } = await client.submit(formOf({}, `file-${index}.txt`, contentOf(index)));
        // 409: accepted before, but its answer was lost.
        assert.ok(status === 202 || status === 409, JSON.stringify(json));
        accepted.add(index);
        answered += 1;
        onAnswer(answered);
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error;
        unanswered.push(index);
      }
    }
  };
  await Promise.all(Array.from({ length: sendersAtOnce }, send));
  return unanswered;
}

/** Waits until a job is being processed. */
async function processing(engine: Carrel): Promise<void> {
  const client = engineClient(engine);
  for (;;) {
    const { processing: count } = (await client.get('/status'))['queue'] as Record<string, number>;
    if (count !== undefined && count > 0) return;
  }
}

async function drained(engine: Carrel): Promise<void> {
  const client = engineClient(engine);
  for (;;) {
    const { queued, processing } = (await client.get('/status'))['queue'] as Record<string, number>;
    if (queued === 0 && processing === 0) return;
    await delay(100);
  }
}

/** Several chunks, so that a half-stored document would be detected. */
function contentOf(index: number): string {
  const paragraph = (part: number) =>
    `Paragraph ${part} of file ${index}. ${`Words of file${index}x${part}. `.repeat(40)}`;
  return Array.from({ length: 3 }, (_, part) => paragraph(part)).join('\n\n');
}

/** Reads the database and the folder directly, without trusting the program. */
function checkFiles(dataDir: string): void {
  const database = new DatabaseSync(join(dataDir, 'carrel.db'));
  const value = (sql: string): unknown => Object.values(database.prepare(sql).get() ?? {})[0];
  const column = (sql: string): unknown[] => database.prepare(sql).all().flatMap(Object.values);
  assert.equal(value('PRAGMA integrity_check'), 'ok');
  const hashes = Array.from({ length: files }, (_, index) =>
    createHash('sha256').update(contentOf(index)).digest('hex'),
  ).sort();
  assert.deepEqual(column('SELECT content_hash FROM kb_documents ORDER BY content_hash'), hashes);
  assert.deepEqual(column('SELECT DISTINCT status FROM kb_jobs'), ['done']);
  assert.equal(value('SELECT count(*) FROM kb_jobs'), files, 'no job twice');
  assert.ok(Number(value('SELECT sum(crashes) FROM kb_jobs')) > 0, 'some kills interrupted a job');
  assert.equal(
    value(
      'SELECT count(*) FROM kb_documents d WHERE chunk_count <> (SELECT count(*) FROM kb_passages WHERE parent = d.key)',
    ),
    0,
  );
  assert.equal(
    value('SELECT count(*) FROM kb_passages WHERE CAST(parent AS INTEGER) NOT IN (SELECT key FROM kb_documents)'),
    0,
  );
  assert.equal(value('SELECT count(*) FROM kb_passages'), value('SELECT sum(chunk_count) FROM kb_documents'));
  assert.equal(
    value("SELECT documents FROM word_statistics WHERE word_index = 'kb_passage'"),
    value('SELECT count(*) FROM kb_passages'),
  );
  database.close();
  const stored = readdirSync(join(dataDir, 'documents')).filter((name) => name !== 'incoming');
  assert.deepEqual(stored.sort(), hashes, 'the bytes of every document, and of nothing else');
}
