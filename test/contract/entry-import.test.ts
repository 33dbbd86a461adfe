import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { NewEntry } from '../../src/storage/entries/entry.ts';
import type { EntryStore } from '../../src/storage/entries/entry-store.ts';
import { loadSqlite } from '../../src/storage/sqlite/sqlite-module.ts';
import { importEntries } from '../../src/toolsets/context/transfer/import-entries.ts';
import { exportLines } from '../../src/toolsets/context/transfer/line-file.ts';
import { onEachBackend, temporaryFolder } from '../support/backends.ts';
import { carrelProgram, cleanEnv } from '../support/child-program.ts';
import { size } from '../support/sizes.ts';

const now = '2026-11-15T00:00:00.000Z';
const signal = new AbortController().signal;

interface OriginalEntry {
  id: number;
  text?: string | null;
  metadata?: string | null;
  tags?: string[];
  images?: [type: string, metadata: string | null][];
  createdAt?: string;
}

/** Writes a database like mcp-context-server 2.2.2. */
function writeOriginal(file: string, entries: readonly OriginalEntry[]): void {
  const database = new (loadSqlite().DatabaseSync)(file);
  database.exec(`
    CREATE TABLE context_entries (id INTEGER PRIMARY KEY AUTOINCREMENT, thread_id TEXT NOT NULL, source TEXT NOT NULL,
      content_type TEXT NOT NULL, text_content TEXT, metadata JSON, summary TEXT, content_hash TEXT,
      created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP);
    CREATE TABLE tags (id INTEGER PRIMARY KEY AUTOINCREMENT, context_entry_id INTEGER NOT NULL, tag TEXT NOT NULL);
    CREATE TABLE image_attachments (id INTEGER PRIMARY KEY AUTOINCREMENT, context_entry_id INTEGER NOT NULL,
      image_data BLOB NOT NULL, mime_type TEXT NOT NULL, image_metadata JSON, position INTEGER DEFAULT 0);
    BEGIN`);
  const entry =
    database.prepare(`INSERT INTO context_entries (id, thread_id, source, content_type, text_content, metadata,
    created_at, updated_at) VALUES (?, 'old', 'user', 'text', ?, ?, ?, ?)`);
  const tag = database.prepare('INSERT INTO tags (context_entry_id, tag) VALUES (?, ?)');
  const image =
    database.prepare(`INSERT INTO image_attachments (context_entry_id, image_data, mime_type, image_metadata,
    position) VALUES (?, x'3c737667', ?, ?, ?)`);
  for (const { id, text = `text ${id}`, metadata = null, tags = [], images = [], createdAt } of entries) {
    const time = createdAt ?? '2025-11-29 10:00:00';
    entry.run(id, text, metadata, time, time);
    for (const name of tags) tag.run(id, name);
    for (const [index, [type, about]] of images.entries()) image.run(id, type, about, index);
  }
  database.exec('COMMIT');
  database.close();
}

const references = (...ids: unknown[]) =>
  JSON.stringify({ references: { context_ids: ids, files: ['a'] }, status: 'x' });

onEachBackend('import of entries from elsewhere', (backend) => {
  const folder = temporaryFolder();
  const all = async (store: EntryStore) => {
    const page = await store.texts({ filter: {}, after: 0, limit: 1_000 });
    const found = await store.get({ ids: page.map(({ id }) => id), images: true });
    return new Map(found.map((entry) => [entry.id, entry]));
  };
  const entry = (text: string, more: Partial<NewEntry> = {}): NewEntry => ({
    ...{ threadId: 't', source: 'user', text, metadata: undefined, tags: [], images: [], summary: undefined },
    ...more,
  });

  test('names an invalid entry with id and reason, and imports the others', async () => {
    const { entries } = await backend.open();
    const file = join(folder, `faults-${backend.name}.db`);
    const many = Array.from({ length: 101 }, (_, index) => `t${index}`);
    writeOriginal(file, [
      { id: 3 },
      { id: 4, tags: many },
      { id: 5, tags: ['x'.repeat(257)] },
      { id: 6, text: null },
      { id: 7, metadata: '{bad' },
      { id: 8, metadata: '[1]' },
      { id: 9, text: 'nul \0' },
      { id: 10, createdAt: 'yesterday' },
      { id: 11, metadata: '{"a":1e400}' },
      { id: 12, tags: many.slice(1), metadata: '{}' },
      // Nested too deep for SQLite's JSON parser and for recursion.
      { id: 13, metadata: `{"a":${'['.repeat(1_200)}${']'.repeat(1_200)}}` },
      { id: 14, metadata: `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}` },
    ]);
    const { added, present, skipped } = await importEntries(entries, file, now);
    assert.deepEqual([added, present], [2, 0]);
    assert.deepEqual(
      skipped.map(({ place, reason }) => `${place}: ${reason}`),
      [
        'entry 4: tags has 101 distinct tags; the maximum is 100',
        'entry 5: a tag has 257 characters; the maximum is 256',
        'entry 6: it has no text',
        'entry 7: its metadata must be a JSON object',
        'entry 8: its metadata must be a JSON object',
        'entry 9: text has the character NUL (U+0000), which cannot be stored; leave it out',
        'entry 10: its date is missing or invalid',
        'entry 11: metadata.a exceeds 1.8e308 and cannot be stored; send it as text',
        'entry 13: metadata has more than 128 levels of nested objects and lists',
        'entry 14: metadata has more than 128 levels of nested objects and lists',
      ],
    );
    const stored = await all(entries);
    assert.deepEqual(
      [...stored.keys()].sort((a, b) => a - b),
      [3, 12],
    );
    assert.deepEqual([stored.get(12)?.tags.length, stored.get(12)?.metadata], [100, {}]);
    const again = await importEntries(entries, file, now);
    assert.deepEqual([again.added, again.present, again.skipped.length], [0, 2, 10]);
  });

  test('image metadata is kept, an object or a text, and integers with all digits', async () => {
    const { entries } = await backend.open();
    const file = join(folder, `images-${backend.name}.db`);
    const images: OriginalEntry['images'] = [
      ['image/svg+xml', '{"alt": "x", "n": 1234567890123456789}'],
      ['application/pdf', '"a caption"'],
      ['image/png', null],
    ];
    writeOriginal(file, [{ id: 1, images, metadata: '{"n": 9007199254740993}' }]);
    await importEntries(entries, file, now);
    const stored = (await all(entries)).get(1);
    assert.deepEqual(stored?.metadata, { n: 9_007_199_254_740_993n });
    const kept = stored?.images?.map(({ mimeType, metadata }) => [mimeType, metadata]);
    assert.deepEqual(kept, [
      ['image/svg+xml', { alt: 'x', n: 1_234_567_890_123_456_789n }],
      ['application/pdf', 'a caption'],
      ['image/png', undefined],
    ]);
    const lines: string[] = [];
    for await (const line of exportLines(entries, signal)) lines.push(line);
    assert.match(lines.join(), /"n":9007199254740993\}/);
    const own = join(folder, `images-${backend.name}.jsonl`);
    writeFileSync(own, lines.join(''));
    const { entries: second } = await backend.open();
    assert.equal((await importEntries(second, own, now)).added, 1);
    assert.deepEqual((await all(second)).get(1), stored);
  });

  test('keeps ids and references in an empty store; new entries follow', async () => {
    const { entries } = await backend.open();
    const file = join(folder, `ids-${backend.name}.db`);
    writeOriginal(file, [{ id: 5 }, { id: 9, metadata: references(5, 20) }, { id: 20 }]);
    const report = await importEntries(entries, file, now);
    assert.deepEqual([report.added, report.newIds.size, report.rewritten], [3, 0, 0]);
    const stored = await all(entries);
    assert.deepEqual(
      [...stored.keys()].sort((a, b) => a - b),
      [5, 9, 20],
    );
    assert.deepEqual(stored.get(9)?.metadata, JSON.parse(references(5, 20)));
    const [next] = await entries.store({ entries: [entry('new')] });
    assert.equal(next?.id, 21);
  });

  test('maps ids and references, also forward ones, in a store with entries', async () => {
    const { entries } = await backend.open();
    await entries.store({ entries: [entry('a'), entry('b'), entry('c')] });
    await entries.remove({ ids: [3], dryRun: false });
    const file = join(folder, `mapped-${backend.name}.db`);
    writeOriginal(file, [
      { id: 1, metadata: references(2, 100, 77, 'x') },
      { id: 2, metadata: JSON.stringify({ references: { context_ids: [1], replaces: 1 } }) },
      { id: 100, metadata: references(100) },
    ]);
    const { added, newIds, rewritten } = await importEntries(entries, file, now);
    assert.deepEqual(
      [added, [...newIds], rewritten],
      [
        3,
        [
          [1, 4],
          [2, 5],
        ],
        2,
      ],
    );
    const stored = await all(entries);
    const at = (id: number) => stored.get(id)?.metadata;
    assert.deepEqual(at(4), JSON.parse(references(5, 100, 77, 'x')));
    assert.deepEqual(at(5), { references: { context_ids: [4], replaces: 4 } });
    assert.deepEqual(at(100), JSON.parse(references(100)));
    assert.equal(stored.get(4)?.updatedAt, '2025-11-29T10:00:00.000Z');
    const path = ['references', 'context_ids'];
    const filter = { metadata: [{ path, operator: 'array_contains' as const, value: 5, caseSensitive: true }] };
    assert.deepEqual(await entries.matching(filter), [4], 'the index knows of it');
    const again = await importEntries(entries, file, now);
    assert.deepEqual([again.added, again.present, again.rewritten, again.newIds.size], [0, 3, 0, 2]);
    assert.deepEqual(await all(entries), stored);
    const [next] = await entries.store({ entries: [entry('new')] });
    assert.equal(next?.id, 101);
  });

  test('an import interrupted anywhere is completed by the next, without duplicates', async () => {
    const file = join(folder, `broken-${backend.name}.db`);
    // With duplicates: the same text twice within a second is two entries.
    const twice = (id: number) => (id % 7 === 0 ? 'again' : `text ${id}`);
    const metadata = (id: number) => references(id + 1, id - 1);
    const entriesHere = Array.from({ length: 250 }, (_, at) => ({
      id: at + 1,
      text: twice(at + 1),
      metadata: metadata(at + 1),
    }));
    writeOriginal(file, entriesHere);
    const { entries: whole } = await backend.open();
    await whole.store({ entries: [entry('before')] });
    await importEntries(whole, file, now);
    // The fourth write changes references; the others add entries.
    for (const stop of size({ quick: 2, full: 4 }) === 2 ? [2, 4] : [1, 2, 3, 4]) {
      const { entries } = await backend.open();
      await entries.store({ entries: [entry('before')] });
      let writes = 0;
      const failing = async () => {
        writes += 1;
        if (writes === stop) throw new Error('broken off');
      };
      const breaking: EntryStore = {
        ...entries,
        import: async (request) => failing().then(() => entries.import(request)),
        changeReferences: async (request) => failing().then(() => entries.changeReferences(request)),
      };
      await assert.rejects(importEntries(breaking, file, now), /broken off/);
      const done = Math.min((stop - 1) * 100, 250);
      const { added, present } = await importEntries(entries, file, now);
      assert.deepEqual([added, present], [250 - done, done]);
      const shape = async (store: EntryStore) =>
        [...(await all(store)).values()].map(({ id, text, metadata: about }) => [id, text, about]);
      assert.deepEqual(await shape(entries), await shape(whole), `broken off before write ${stop}`);
    }
  });

  test('a grown file adds only new entries; deleted ones stay deleted', async () => {
    const { entries } = await backend.open();
    const memory = join(folder, `grown-${backend.name}.jsonl`);
    const line = (name: string) => `${JSON.stringify({ type: 'entity', name, entityType: 'x', observations: [] })}\n`;
    writeFileSync(memory, line('a') + line('b'));
    assert.equal((await importEntries(entries, memory, now)).added, 2);
    await entries.remove({ ids: [1], dryRun: false });
    writeFileSync(memory, `${line('a')}${line('b')}not JSON\n${line('c')}{"type":"other"}\n`);
    const { added, present, skipped } = await importEntries(entries, memory, '2026-12-01T00:00:00.000Z');
    assert.deepEqual([added, present], [1, 2]);
    assert.deepEqual(skipped, [
      { place: 'line 3', reason: 'it is not an entry' },
      { place: 'line 5', reason: 'it is not an entry' },
    ]);
  });
});

describe('carrel import of a database of mcp-context-server', () => {
  const folder = temporaryFolder();
  const run = (env: Record<string, string>, ...args: string[]) =>
    spawnSync(process.execPath, [carrelProgram, ...args], {
      encoding: 'utf8',
      env: cleanEnv(join(folder, 'data'), env),
    });

  test('reports counts and lists skipped entries in a file, with its own exit code; rejects our own database', () => {
    const file = join(folder, 'original.db');
    writeOriginal(file, [{ id: 1 }, { id: 2, tags: ['\u001b[31m'.repeat(100)] }, { id: 3 }]);
    const served = run({ DB_PATH: file }, 'context');
    assert.equal(served.status, 78);
    assert.match(served.stderr, /belongs to mcp-context-server.*carrel import/);
    const first = run({}, 'import', file);
    const list = `${file}.skipped.jsonl`;
    assert.equal(
      first.stderr,
      `carrel: Skipped entry 2: a tag has 500 characters; the maximum is 256\ncarrel: All skipped entries are listed in ${list}.\n`,
    );
    assert.equal(first.status, 65);
    assert.deepEqual(JSON.parse(readFileSync(list, 'utf8')), {
      place: 'entry 2',
      reason: 'a tag has 500 characters; the maximum is 256',
    });
    assert.equal(first.stdout, '2 entries added, 0 already present, 1 skipped\n');
    const { added, present, skipped, newIds, skippedFile } = JSON.parse(run({}, 'import', file, '--json').stdout);
    assert.deepEqual([added, present, skipped.length, newIds, skippedFile], [0, 2, 1, {}, list]);
  });
});
