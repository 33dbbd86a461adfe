import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import type { NewEntry } from '../../src/storage/entries/entry.ts';
import type { EntryStore } from '../../src/storage/entries/entry-store.ts';
import { loadSqlite } from '../../src/storage/sqlite/sqlite-module.ts';
import { importEntries } from '../../src/toolsets/context/transfer/import-entries.ts';
import { exportLines } from '../../src/toolsets/context/transfer/line-file.ts';
import { onEachBackend, temporaryFolder } from '../support/backends.ts';
import { carrelProgram, cleanEnv } from '../support/child-program.ts';
import { until } from '../support/pause.ts';

const now = '2026-11-15T00:00:00.000Z';
const signal = new AbortController().signal;

onEachBackend('import and export of entries', (backend) => {
  const folder = temporaryFolder();
  let entries: EntryStore;
  before(async () => {
    ({ entries } = await backend.open());
  });
  const exported = async (store: EntryStore) => {
    const lines: string[] = [];
    for await (const line of exportLines(store, signal)) lines.push(line);
    return lines;
  };
  const inThread = async (threadId: string) =>
    (await entries.list({ filter: { threadId }, limit: 100, offset: 0, images: true, explain: false })).entries;

  test('importing an export into an empty store yields the same export, with every type of metadata, every kind of text, images and times', async () => {
    const entry = (text: string, more: Partial<NewEntry> = {}): NewEntry => ({
      ...{ threadId: 't', source: 'user', text, metadata: undefined, tags: [], images: [], summary: undefined },
      ...more,
    });
    const metadata = {
      ...{ text: 'é 大阪 \u{1F600} \u2028 "q" \\', empty: '', zero: 0, negative: -0.5, large: 2 ** 53, tiny: 1e-300 },
      ...{
        yes: true,
        no: false,
        nothing: null,
        list: [1, 'a', null, [true, {}], { deep: [] }],
        object: { 'a.b': { c: {} } },
      },
      ...{ '': 'empty key', ' ключ ': 'x', toString: 'own' },
    };
    const images = [
      {
        data: new Uint8Array([0xff, 0xd8, 0xff, 0, 255, 128]),
        mimeType: 'image/jpeg',
        metadata: { page: 1, alt: '猫' },
      },
      { data: new Uint8Array(70_000).map((_, index) => index % 251), mimeType: 'image/tiff', metadata: undefined },
    ];
    const stored = await entries.store({
      entries: [
        entry('combining e\u0301, rtl \u05d0\u05d1, zwj 👩‍👩‍👧, nul \0 end', {
          ...{ threadId: 'Ж thread / 1', source: 'agent' },
          ...{ metadata, tags: ['ß', '猫', 'with space', 'ǆ'], images, summary: 'Résumé 😀' },
          ...{ createdAt: '1999-12-31T23:59:59.999Z', updatedAt: '2026-02-28T00:00:00.001Z' },
        }),
        entry('  kept to the byte \u200b😀\r\n\t"x"  ', { tags: ['b', 'a'] }),
        ...Array.from({ length: 230 }, (_, index) => entry(`many ${index}`)),
      ],
    });
    await entries.remove({ ids: [stored[3]?.id ?? 0], dryRun: false });
    const lines = await exported(entries);
    assert.equal(lines.length, 231);
    const file = join(folder, 'export.jsonl');
    writeFileSync(file, lines.join(''));
    const { entries: second } = await backend.open();
    assert.equal((await importEntries(second, file, now)).added, 231);
    assert.deepEqual(await exported(second), lines, 'with the same ids');
    const { added, present, skipped } = await importEntries(second, file, now);
    assert.deepEqual([added, present, skipped], [0, 231, []]);
    assert.deepEqual(await exported(second), lines, 'a second import adds nothing');
    const own = await importEntries(entries, file, now);
    assert.deepEqual([own.added, own.present], [0, 231], 'nor does one into the store that was exported');

    const get = async (store: EntryStore) => store.get({ ids: [stored[0]?.id ?? 0], images: true });
    const [before, after] = [await get(entries), await get(second)];
    assert.deepEqual(after, before);
    assert.equal(JSON.stringify(after[0]?.metadata), JSON.stringify(metadata));
    assert.deepEqual([...(after[0]?.images?.[1]?.data ?? [])], [...(images[1]?.data ?? [])]);
    assert.deepEqual(
      after[0]?.images?.map(({ mimeType, metadata: about }) => [mimeType, about]),
      [
        ['image/jpeg', { page: 1, alt: '猫' }],
        ['image/tiff', undefined],
      ],
    );
  });

  test('imports a database of mcp-context-server, version 2', async () => {
    const file = join(folder, 'context_storage.db');
    const database = new (loadSqlite().DatabaseSync)(file);
    database.exec(`
      CREATE TABLE context_entries (id INTEGER PRIMARY KEY AUTOINCREMENT, thread_id TEXT NOT NULL, source TEXT NOT NULL,
        content_type TEXT NOT NULL, text_content TEXT, metadata JSON, summary TEXT, content_hash TEXT,
        created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP);
      CREATE TABLE tags (id INTEGER PRIMARY KEY, context_entry_id INTEGER, tag TEXT);
      CREATE TABLE image_attachments (id INTEGER PRIMARY KEY, context_entry_id INTEGER, image_data BLOB, mime_type TEXT,
        image_metadata JSON, position INTEGER);
      INSERT INTO context_entries VALUES (7, 'old', 'user', 'multimodal', 'from before', '{"status": "done"}', 'short', '',
        '2025-11-29 10:00:00', '2025-11-30 11:00:00');
      INSERT INTO context_entries (thread_id, source, content_type, text_content, created_at) VALUES
        ('old', 'user', 'text', 'from before', '2025-12-01 00:00:00');
      INSERT INTO tags (context_entry_id, tag) VALUES (7, 'a'), (7, 'a'), (7, 'b');
      INSERT INTO context_entries (thread_id, source, content_type, text_content, metadata, created_at) VALUES
        ('old', 'agent', 'text', 'Ünï 大阪 😀', '{"n": 1.5, "t": true, "z": null, "o": {"l": ["x", 1]}}',
         '2025-12-02T03:04:05.678901+02:00');
      INSERT INTO image_attachments (context_entry_id, image_data, mime_type, image_metadata, position)
        VALUES (7, x'ffd8ff00', 'image/jpeg', '{"alt": "猫"}', 1), (7, x'89504e47', 'image/png', NULL, 0);`);
    database.close();
    assert.equal((await importEntries(entries, file, now)).added, 3);
    const [last, later, first] = await inThread('old');
    assert.deepEqual(
      [last?.source, last?.text, last?.metadata, last?.createdAt],
      [...['agent', 'Ünï 大阪 😀', { n: 1.5, t: true, z: null, o: { l: ['x', 1] } }], '2025-12-02T01:04:05.678Z'],
    );
    assert.deepEqual(
      first?.images?.map(({ mimeType, metadata }) => [mimeType, metadata]),
      [
        ['image/png', undefined],
        ['image/jpeg', { alt: '猫' }],
      ],
    );
    assert.deepEqual(
      [first?.text, first?.metadata, first?.tags, first?.summary],
      ['from before', { status: 'done' }, ['a', 'b'], 'short'],
    );
    assert.deepEqual([first?.createdAt, first?.updatedAt], ['2025-11-29T10:00:00.000Z', '2025-11-30T11:00:00.000Z']);
    assert.deepEqual([...(first?.images?.[0]?.data ?? [])], [0x89, 0x50, 0x4e, 0x47]);
    assert.equal(later?.text, 'from before');
  });

  test("imports the reference memory server's file", async () => {
    const file = join(folder, 'memory.jsonl');
    writeFileSync(
      file,
      '{"type":"entity","name":"Ada","entityType":"Person","observations":["likes tea","codes"]}\n{"type":"relation","from":"Ada","to":"Carrel","relationType":"wrote"}\n',
    );
    assert.equal((await importEntries(entries, file, now)).added, 2);
    const texts = (await inThread('memory')).map(({ text }) => text);
    assert.deepEqual(texts.sort(), ['Ada (Person)\n- likes tea\n- codes', 'Ada wrote Carrel']);
  });

  test('imports chat exports', async () => {
    const claude = join(folder, 'claude.json');
    const messages = [
      { sender: 'human', text: 'Hi', created_at: '2025-01-01T00:00:00.000000Z' },
      { sender: 'assistant', text: 'Hello', created_at: '2025-01-01T00:00:01Z' },
      { sender: 'assistant', text: ' ', created_at: '2025-01-01T00:00:02Z' },
      {
        sender: 'human',
        text: '',
        content: [{ type: 'text', text: 'In' }, { type: 'text', text: 'parts' }, {}],
        created_at: '2025-01-01T00:00:03Z',
      },
    ];
    writeFileSync(claude, JSON.stringify([{ uuid: 'u1', name: 'Greeting', chat_messages: messages }]));
    assert.equal((await importEntries(entries, claude, now)).added, 3);
    assert.deepEqual(
      (await inThread('claude:u1')).map(({ source, text, metadata }) => [source, text, metadata]),
      [
        ['user', 'In\nparts', { title: 'Greeting' }],
        ['agent', 'Hello', { title: 'Greeting' }],
        ['user', 'Hi', { title: 'Greeting' }],
      ],
    );
    const nameless = join(folder, 'nameless.json');
    const chat = (text: string) => ({
      chat_messages: [{ sender: 'human', text, created_at: '2025-01-01T00:00:00Z' }],
    });
    writeFileSync(nameless, JSON.stringify([chat('one'), chat('two')]));
    assert.equal((await importEntries(entries, nameless, now)).added, 2);
    assert.equal((await importEntries(entries, nameless, now)).present, 2);
    assert.deepEqual(await inThread('claude:undefined'), [], 'conversations without an id are threads of their own');
    const message = (role: string, text: string, time: number) => ({
      author: { role },
      content: { parts: [text] },
      create_time: time,
    });
    const mapping = {
      root: { parent: null, message: null },
      a: { parent: 'root', message: message('user', 'asked', 1_735_689_600) },
      b: { parent: 'a', message: message('assistant', 'dropped', 1_735_689_601) },
      c: { parent: 'a', message: message('assistant', 'answered', 1_735_689_602.5) },
      loop: { parent: 'loop', message: null },
    };
    const chatgpt = join(folder, 'chatgpt.json');
    writeFileSync(
      chatgpt,
      JSON.stringify([
        { id: 'c1', title: 'T', mapping, current_node: 'c' },
        { id: 'c2', mapping, current_node: 'loop' },
      ]),
    );
    assert.equal((await importEntries(entries, chatgpt, now)).added, 2);
    const turns = await inThread('chatgpt:c1');
    assert.deepEqual(
      turns.map(({ text, createdAt }) => [text, createdAt]),
      [
        ['answered', '2025-01-01T00:00:02.500Z'],
        ['asked', '2025-01-01T00:00:00.000Z'],
      ],
    );
  });

  test('rejects unknown formats, and stores nothing of a bad batch', async () => {
    const file = join(folder, 'bad');
    for (const text of ['hello', '[1,2]', '{"type":"other"}', '{"type":"carrel.context","text":"x"}', '[]', '{']) {
      writeFileSync(file, text);
      await assert.rejects(importEntries(entries, file, now), { code: 'invalid_import' }, text);
    }
    for (const [name, schema] of Object.entries({
      other: 'CREATE TABLE other (a)',
      spoilt: `CREATE TABLE context_entries (id, thread_id, source, text_content, metadata, created_at);
        CREATE TABLE tags (context_entry_id, tag); CREATE TABLE image_attachments (context_entry_id, position);
        INSERT INTO context_entries VALUES (1, 't', 'user', 'x', '{bad', '2025-01-01 00:00:00')`,
    })) {
      const path = join(folder, `${name}.db`);
      const database = new (loadSqlite().DatabaseSync)(path);
      database.exec(schema);
      database.close();
      await assert.rejects(importEntries(entries, path, now), { code: 'invalid_import' }, name);
    }
  });

  test('rejects entries that would lose data, with the reason, and imports the rest', async () => {
    const file = join(folder, 'partly.jsonl');
    const created = '2025-01-01T00:00:00.000Z';
    const good = {
      type: 'carrel.context',
      thread_id: 'partly',
      source: 'user',
      text: 'x',
      tags: [],
      images: [],
      created_at: created,
    };
    const spoilt = [{ metadata: ['a'] }, { metadata: 'a' }, { summary: 5 }, { images: ['a'] }, { tags: [{}] }];
    const lines = [{}, ...spoilt].map((each, index) => JSON.stringify({ ...good, id: index + 1, ...each }));
    writeFileSync(file, lines.join('\n'));
    const { added, skipped } = await importEntries(entries, file, now);
    assert.equal(added, 1);
    assert.deepEqual(
      skipped.map(({ reason }) => reason),
      [
        'its metadata must be an object',
        'its metadata must be an object',
        'its summary must be text',
        'each image must be an object',
        'each tag must be text',
      ],
    );
  });

  test('accepts a byte order mark; long texts without a summary get one', async () => {
    const line = (name: string, observation: string) =>
      JSON.stringify({ type: 'entity', name, entityType: 'x', observations: [observation] });
    const file = join(folder, 'marked.jsonl');
    writeFileSync(file, `\ufeff${line('Short', 'one')}\r\n${line('Long', 'word '.repeat(200))}\r\n`);
    assert.equal((await importEntries(entries, file, now)).added, 2);
    assert.deepEqual(
      (await entries.unsummarised({ limit: 10 })).map(({ text }) => text.slice(0, 4)),
      ['Long'],
    );
    const chats = join(folder, 'marked.json');
    const messages = [{ sender: 'human', text: 'hi', created_at: '2025-01-01T00:00:00Z' }];
    writeFileSync(chats, `\ufeff${JSON.stringify([{ uuid: 'u', chat_messages: messages }])}`);
    assert.equal((await importEntries(entries, chats, now)).added, 1);
  });
});

describe('carrel export and carrel import (contract §9)', () => {
  const folder = temporaryFolder();
  const run = (dataDir: string, ...args: string[]) =>
    spawnSync(process.execPath, [carrelProgram, ...args], { encoding: 'utf8', env: cleanEnv(join(folder, dataDir)) });

  test('move a memory to another data folder, by a file that gets its name only when it is complete', async () => {
    const memory = join(folder, 'memory.jsonl');
    writeFileSync(memory, '{"type":"entity","name":"Ada","entityType":"Person","observations":["likes tea"]}\n');
    assert.equal(run('a', 'import', memory).stdout, '1 entries added, 0 already present, 0 skipped\n');
    const exports = join(folder, 'exports');
    const file = join(exports, 'out.jsonl');
    mkdirSync(exports);
    writeFileSync(`${file}.999999999.tmp`, '{ of another that was killed');
    const watcher = watch(exports);
    const created: unknown[] = [];
    watcher.on('change', (_, name) => created.push(name));
    const program = spawn(process.execPath, [carrelProgram, 'export', file], { env: cleanEnv(join(folder, 'a')) });
    assert.deepEqual(await once(program, 'exit'), [0, null]);
    await until(() => created.includes('out.jsonl'));
    watcher.close();
    assert.ok(process.platform !== 'linux' || created.includes(`out.jsonl.${program.pid}.tmp`), created.join());
    assert.deepEqual(readdirSync(exports), ['out.jsonl']);
    assert.match(
      readFileSync(file, 'utf8'),
      /^\{"type":"carrel.context","id":1,.*"text":"Ada \(Person\)\\n- likes tea".*\}\n$/,
    );
    assert.equal(run('b', 'import', file).status, 0);
    assert.equal(run('b', 'export').stdout, readFileSync(file, 'utf8'));
    const again = run('a', 'export', file);
    assert.deepEqual([again.status, again.stderr.trim().split('\n').length], [2, 1]);
    assert.equal(run('a', 'import', join(folder, 'absent')).status, 2);
    assert.match(run('a', 'import', folder).stderr, /is a folder/);
    assert.ok(!existsSync(join(folder, 'absent')));
  });
});
