import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { temporaryFolder } from '../support/backends.ts';
import { size } from '../support/sizes.ts';

/** For a release: `CARREL_KILLS=1000 node test/reliability/kill.test.ts`, which has no time limit. */
const kills = size({ quick: 8, full: 24, variable: 'CARREL_KILLS' });
const writersAtOnce = 4;
const writer = join(import.meta.dirname, '../support/mixed-writer.ts');

/** Acknowledged writes, by kind. */
interface Acknowledged {
  readonly note: Set<string>;
  readonly entry: Set<string>;
  readonly document: Set<string>;
  /** Removals that were started: the row may exist or not. */
  readonly removing: Set<string>;
  readonly removed: Set<string>;
}

test(`T142: ${kills} times kill -9 among ${writersAtOnce} processes on one file lose nothing that was acknowledged`, async (t) => {
  const path = join(temporaryFolder(), 'killed.db');
  const acknowledged: Acknowledged = {
    note: new Set(),
    entry: new Set(),
    document: new Set(),
    removing: new Set(),
    removed: new Set(),
  };
  for (let killed = 0; killed < kills; killed += writersAtOnce) {
    const children = Array.from({ length: writersAtOnce }, () => startWriter(path, acknowledged));
    // Otherwise writers that are left behind keep the failed test running.
    t.after(() => children.forEach(({ child }) => void child.kill('SIGKILL')));
    await Promise.all(children.map(({ ready }) => ready));
    await Promise.all(
      children.map(async ({ child, ended }) => {
        // A random moment: a write may be interrupted in any state.
        await delay(Math.random() * 200);
        child.kill('SIGKILL');
        await ended;
      }),
    );
    checkFile(path, acknowledged);
  }
  const { note, entry, document, removed } = acknowledged;
  for (const [kind, ids] of Object.entries({ note, entry, document, removed })) assert.ok(ids.size > 0, `no ${kind}`);
  assert.ok(note.size + entry.size + document.size > kills, 'the writers have written');
});

function startWriter(path: string, acknowledged: Acknowledged) {
  const child: ChildProcess = spawn(process.execPath, [writer, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>();
  child.once('exit', () => reject(new Error('the writer ended before it was ready')));
  assert.ok(child.stdout);
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => {
    if (line === 'ready') return resolve();
    const [kind = '', id = '', end] = line.split(' ');
    // The kill may have truncated the last line.
    if (end !== '.') return;
    assert.ok(isKind(kind), `unexpected line ${line}`);
    acknowledged[kind].add(id);
  });
  return { child, ready, ended: Promise.all([once(lines, 'close'), once(child, 'close')]) };

  function isKind(kind: string): kind is keyof Acknowledged {
    return kind in acknowledged;
  }
}

/** Reads the file on a separate connection, without trusting the program. */
function checkFile(path: string, acknowledged: Acknowledged): void {
  const database = new DatabaseSync(path);
  const value = (sql: string): unknown => Object.values(database.prepare(sql).get() ?? {})[0];
  const column = (sql: string) =>
    new Set(
      database
        .prepare(sql)
        .all()
        .map((row) => String(Object.values(row)[0])),
    );
  assert.equal(value('PRAGMA integrity_check'), 'ok');
  assert.equal(value('SELECT count(*) FROM pragma_foreign_key_check'), 0);

  for (const [name, owner] of [
    ['note', 'notes'],
    ['kb_passage', 'kb_passages'],
    ['context_entry', 'context_entries'],
  ]) {
    // Rank 1: compares the index with the terms it was built from.
    database.exec(`INSERT INTO ${name}_words (${name}_words, rank) VALUES ('integrity-check', 1)`);
    const rows = value(`SELECT count(*) FROM ${owner}`);
    assert.equal(value(`SELECT count(*) FROM ${name}_terms JOIN ${owner} USING (key)`), rows, name);
    assert.equal(value(`SELECT count(*) FROM ${name}_words WHERE ${name}_words MATCH 'number'`), rows, name);
    assert.equal(value(`SELECT documents FROM word_statistics WHERE word_index = '${name}'`), rows, name);
    assert.equal(
      value(`SELECT body_length FROM word_statistics WHERE word_index = '${name}'`),
      value(`SELECT coalesce(sum(body_length), 0) FROM ${name}_terms`),
      name,
    );
  }

  for (const [name, owner, labels] of [
    ['kb_passage', 'kb_passages', 'labels'],
    ['note', 'notes', 'tags'],
  ]) {
    assert.equal(
      value(`SELECT count(*) FROM ${name}_terms t JOIN ${owner} o ON o.key = t.key AND t.labels = (
               SELECT group_concat('#' || hex(value), ' ') FROM json_each(o.${labels}))`),
      value(`SELECT count(*) FROM ${owner}`),
    );
  }

  // A text either has its vector or is pending.
  for (const [corpus, owner] of [
    ['context', 'context_entries'],
    ['kb', 'kb_passages'],
  ]) {
    assert.equal(
      value(`SELECT (SELECT count(*) FROM ${corpus}_vectors) + (SELECT count(*) FROM ${corpus}_unembedded)`),
      value(`SELECT count(*) FROM ${owner}`),
    );
    assert.equal(value(`SELECT count(*) FROM ${corpus}_vectors v JOIN ${corpus}_unembedded u ON u.owner = v.owner`), 0);
  }
  assert.equal(
    value('SELECT count(*) FROM kb_passages') ?? 0,
    Number(value('SELECT 2 * count(DISTINCT parent) FROM kb_passages')),
  );

  checkAcknowledged('note', acknowledged.note, column('SELECT id FROM notes'));
  checkAcknowledged('entry', acknowledged.entry, column('SELECT key FROM context_entries'));
  const parents = column('SELECT DISTINCT parent FROM kb_passages');
  checkAcknowledged('document', without(acknowledged.document, acknowledged.removing), parents);
  for (const parent of acknowledged.removed) assert.ok(!parents.has(parent), `${parent} was removed and is back`);
  database.close();
}

function without(ids: ReadonlySet<string>, others: ReadonlySet<string>): Set<string> {
  return new Set([...ids].filter((id) => !others.has(id)));
}

function checkAcknowledged(kind: string, acknowledged: ReadonlySet<string>, stored: ReadonlySet<string>): void {
  for (const id of acknowledged) assert.ok(stored.has(id), `${kind} ${id} was acknowledged and is gone`);
}
