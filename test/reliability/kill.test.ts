import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { temporaryFolder } from '../support/backends.ts';

const kills = Number(process.env['CARREL_KILLS'] ?? 100);
const writersAtOnce = 4;
const writer = join(import.meta.dirname, '../support/note-writer.ts');

test(`T142: ${kills} times kill -9 among ${writersAtOnce} processes on one file lose nothing that was acknowledged`, async () => {
  const path = join(temporaryFolder(), 'notes.db');
  const acknowledged = new Set<string>();
  for (let killed = 0; killed < kills; killed += writersAtOnce) {
    const children = Array.from({ length: writersAtOnce }, () => startWriter(path, acknowledged));
    await Promise.all(children.map(({ ready }) => ready));
    await Promise.all(
      children.map(async ({ child, ended }) => {
        // A random moment is the point: any state of a write may be the last.
        await delay(Math.random() * 200);
        child.kill('SIGKILL');
        await ended;
      }),
    );
    checkFile(path, acknowledged);
  }
  assert.ok(acknowledged.size > kills, 'the writers have written');
});

function startWriter(path: string, acknowledged: Set<string>) {
  const child: ChildProcess = spawn(process.execPath, [writer, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>();
  child.once('exit', () => reject(new Error('the writer ended before it was ready')));
  assert.ok(child.stdout);
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => {
    if (line === 'ready') resolve();
    // The last line may have been cut by the kill; it is then no whole id.
    else if (line.length === 36) acknowledged.add(line);
  });
  return { child, ready, ended: Promise.all([once(lines, 'close'), once(child, 'close')]) };
}

/** Reads the file with a connection of its own; the program's own word for it would prove nothing. */
function checkFile(path: string, acknowledged: ReadonlySet<string>): void {
  const database = new DatabaseSync(path);
  const value = (sql: string): unknown => Object.values(database.prepare(sql).get() ?? {})[0];
  assert.equal(value('PRAGMA integrity_check'), 'ok');
  database.exec("INSERT INTO note_words (note_words, rank) VALUES ('integrity-check', 1)");
  const ids = new Set(
    database
      .prepare('SELECT id FROM notes')
      .all()
      .map((row) => row['id']),
  );
  for (const id of acknowledged) assert.ok(ids.has(id), `${id} was acknowledged and is gone`);
  const rows = value('SELECT count(*) FROM notes');
  assert.equal(value('SELECT count(*) FROM note_terms JOIN notes USING (key)'), rows);
  assert.equal(value("SELECT count(*) FROM note_words WHERE note_words MATCH 'number'"), rows);
  assert.equal(value('SELECT documents FROM note_statistics'), rows);
  assert.equal(value('SELECT body_length FROM note_statistics'), value('SELECT sum(body_length) FROM note_terms'));
  assert.equal(value('SELECT count(*) / 2 FROM note_tags'), rows);
  database.close();
}
