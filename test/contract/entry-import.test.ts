import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
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
  let entries: EntryStore;
  before(async () => {
    ({ entries } = await backend.open());
  });
  const entry = (text: string): NewEntry => ({
    ...{ threadId: 't', source: 'user', text, metadata: undefined, tags: [], images: [], summary: undefined },
  });
  /** Stores an entry. Its id is higher than all before. */
  const store = async (text: string) => (await entries.store({ entries: [entry(text)] }))[0]?.id ?? 0;
  /** Returns the entries with higher ids. */
  const allAfter = async (after: number) => {
    const page = await entries.texts({ filter: {}, after, limit: 1_000 });
    const found = await entries.get({ ids: page.map(({ id }) => id), images: true });
    return new Map(found.toSorted((a, b) => a.id - b.id).map((each) => [each.id, each]));
  };

  // The first test, because the store must be empty.
  test('keeps ids and references in an empty store; new entries follow', async () => {
    const file = join(folder, `ids-${backend.name}.db`);
    writeOriginal(file, [{ id: 5 }, { id: 9, metadata: references(5, 20) }, { id: 20 }]);
    const report = await importEntries(entries, file, now);
    assert.deepEqual([report.added, report.newIds.size, report.rewritten], [3, 0, 0]);
    const stored = await allAfter(0);
    assert.deepEqual([...stored.keys()], [5, 9, 20]);
    assert.deepEqual(stored.get(9)?.metadata, JSON.parse(references(5, 20)));
    assert.equal(await store('new'), 21);
  });

  test('names an invalid entry with id and reason, and imports the others', async () => {
    const first = await store('before invalid ones');
    const file = join(folder, `faults-${backend.name}.db`);
    const many = Array.from({ length: 101 }, (_, index) => `t${index}`);
    const originals: Omit<OriginalEntry, 'id'>[] = [
      {},
      { tags: many },
      { tags: ['x'.repeat(257)] },
      { text: null },
      { metadata: '{bad' },
      { metadata: '[1]' },
      { text: 'nul \0' },
      { createdAt: 'yesterday' },
      { metadata: '{"a":1e400}' },
      { tags: many.slice(1), metadata: '{}' },
      // Nested too deep for SQLite's JSON parser and for recursion.
      { metadata: `{"a":${'['.repeat(1_200)}${']'.repeat(1_200)}}` },
      { metadata: `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}` },
    ];
    writeOriginal(
      file,
      originals.map((each, index) => ({ id: first + 1 + index, ...each })),
    );
    const { added, present, skipped } = await importEntries(entries, file, now);
    assert.deepEqual([added, present], [2, 0]);
    assert.deepEqual(
      skipped.map(({ place, reason }) => `${place}: ${reason}`),
      [
        `entry ${first + 2}: tags has 101 distinct tags; the maximum is 100`,
        `entry ${first + 3}: a tag has 257 characters; the maximum is 256`,
        `entry ${first + 4}: it has no text`,
        `entry ${first + 5}: its metadata must be a JSON object`,
        `entry ${first + 6}: its metadata must be a JSON object`,
        `entry ${first + 7}: text has the character NUL (U+0000), which cannot be stored; leave it out`,
        `entry ${first + 8}: its date is missing or invalid`,
        `entry ${first + 9}: metadata.a exceeds 1.8e308 and cannot be stored; send it as text`,
        `entry ${first + 11}: metadata has more than 128 levels of nested objects and lists`,
        `entry ${first + 12}: metadata has more than 128 levels of nested objects and lists`,
      ],
    );
    const stored = await allAfter(first);
    const full = stored.get(first + 10);
    assert.deepEqual([...stored.keys()], [first + 1, first + 10]);
    assert.deepEqual([full?.tags.length, full?.metadata], [100, {}]);
    const again = await importEntries(entries, file, now);
    assert.deepEqual([again.added, again.present, again.skipped.length], [0, 2, 10]);
  });

  test('image metadata is kept, an object or a text, and integers with all digits', async () => {
    const id = (await store('before images')) + 1;
    const file = join(folder, `images-${backend.name}.db`);
    const images: OriginalEntry['images'] = [
      ['image/svg+xml', '{"alt": "x", "n": 1234567890123456789}'],
      ['application/pdf', '"a caption"'],
      ['image/png', null],
    ];
    writeOriginal(file, [{ id, images, metadata: '{"n": 9007199254740993}' }]);
    await importEntries(entries, file, now);
    const stored = (await allAfter(0)).get(id);
    assert.deepEqual(stored?.metadata, { n: 9_007_199_254_740_993n });
    const kept = stored?.images?.map(({ mimeType, metadata }) => [mimeType, metadata]);
    assert.deepEqual(kept, [
      ['image/svg+xml', { alt: 'x', n: 1_234_567_890_123_456_789n }],
      ['application/pdf', 'a caption'],
      ['image/png', undefined],
    ]);
    const lines: string[] = [];
    for await (const line of exportLines(entries, signal)) lines.push(line);
    const own = join(folder, `images-${backend.name}.jsonl`);
    writeFileSync(own, lines.filter((line) => line.includes('"n":9007199254740993}')).join(''));
    await entries.remove({ ids: [id], dryRun: false });
    assert.equal(await entries.purge({ ids: [id] }), 1);
    assert.equal((await importEntries(entries, own, now)).added, 1);
    assert.deepEqual([...(await allAfter(id)).values()], [{ ...stored, id: id + 1 }], 'an id is never given twice');
  });

  test('maps ids and references, also forward ones, in a store with entries', async () => {
    const [one, two, three] = [await store('a'), await store('b'), await store('c')];
    await entries.remove({ ids: [three], dryRun: false });
    const [unknown, free] = [three + 50, three + 100];
    const file = join(folder, `mapped-${backend.name}.db`);
    writeOriginal(file, [
      { id: one, metadata: references(two, free, unknown, 'x') },
      { id: two, metadata: JSON.stringify({ references: { context_ids: [one], replaces: one } }) },
      { id: free, metadata: references(free) },
    ]);
    const { added, newIds, rewritten } = await importEntries(entries, file, now);
    const [newOne, newTwo] = [three + 1, three + 2];
    const mapped = [
      [one, newOne],
      [two, newTwo],
    ];
    assert.deepEqual([added, [...newIds], rewritten], [3, mapped, 2]);
    const stored = await allAfter(three);
    const at = (id: number) => stored.get(id)?.metadata;
    assert.deepEqual(at(newOne), JSON.parse(references(newTwo, free, unknown, 'x')));
    assert.deepEqual(at(newTwo), { references: { context_ids: [newOne], replaces: newOne } });
    assert.deepEqual(at(free), JSON.parse(references(free)));
    assert.equal(stored.get(newOne)?.updatedAt, '2025-11-29T10:00:00.000Z');
    const path = ['references', 'context_ids'];
    const filter = { metadata: [{ path, operator: 'array_contains' as const, value: newTwo, caseSensitive: true }] };
    assert.deepEqual(await entries.matching(filter), [newOne], 'the index knows of it');
    const again = await importEntries(entries, file, now);
    assert.deepEqual([again.added, again.present, again.rewritten, again.newIds.size], [0, 3, 0, 2]);
    assert.deepEqual(await allAfter(three), stored);
    assert.equal(await store('new'), free + 1);
  });

  test('an import interrupted anywhere is completed by the next, without duplicates', async () => {
    // The fourth write changes references; the others add entries.
    for (const stop of size({ quick: 2, full: 4 }) === 2 ? [2, 4] : [1, 2, 3, 4]) {
      const file = join(folder, `broken-${backend.name}-${stop}.db`);
      const first = await store(`before write ${stop}`);
      const ids = Array.from({ length: 250 }, (_, at) => first + at);
      // With duplicates: the same text twice within a second is two entries.
      const textOf = (id: number) => ((id - first) % 7 === 0 ? `again ${stop}` : `text ${id}`);
      writeOriginal(
        file,
        ids.map((id) => ({ id, text: textOf(id), metadata: references(id + 1, id - 1) })),
      );
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
      // The first id is taken, so each entry gets the next one.
      const newIdOf = (id: number) => (ids.includes(id) ? id + 1 : id);
      assert.deepEqual(
        [...(await allAfter(first)).values()].map(({ id, text, metadata }) => [id, text, metadata]),
        ids.map((id) => [id + 1, textOf(id), JSON.parse(references(newIdOf(id + 1), newIdOf(id - 1)))]),
        `broken off before write ${stop}`,
      );
    }
  });

  test('a grown file adds only new entries; deleted ones stay deleted', async () => {
    const first = await store('before a growing file');
    const memory = join(folder, `grown-${backend.name}.jsonl`);
    const line = (name: string) => `${JSON.stringify({ type: 'entity', name, entityType: 'x', observations: [] })}\n`;
    writeFileSync(memory, line('a') + line('b'));
    assert.equal((await importEntries(entries, memory, now)).added, 2);
    await entries.remove({ ids: [first + 1], dryRun: false });
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
