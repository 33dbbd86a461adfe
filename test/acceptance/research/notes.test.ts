import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { verifies } from '../../support/verifies.ts';
import { startResearch } from './research-fixture.ts';

const { rpc, carrel } = await startResearch();

interface WireNote {
  id: string;
  title: string;
  content: string;
  tags: string[];
  source_urls: string[];
  created_at: string;
  updated_at: string;
}

interface WirePage {
  notes: { id: string; title: string; snippet: string; tags: string[] }[];
  count: number;
  total_count: number;
  has_more: boolean;
  limit: number;
  offset: number;
  hint?: string;
}

const save = async (note: object): Promise<WireNote> => (await rpc.result('save_note', note))['note'] as WireNote;
const list = async (args: object): Promise<WirePage> => (await rpc.result('list_notes', args)) as unknown as WirePage;
const refused = async (note: object): Promise<string> => {
  const error = await rpc.error('save_note', note);
  assert.equal(error.code, -32_000);
  assert.equal(error.data.code, 'note_invalid');
  return error.message;
};

verifies(
  ['004 save_note/title', '004 errors/note_invalid'],
  'is required, not blank, and at most 200 characters',
  async () => {
    const content = 'x';
    for (const title of [undefined, '', '   ', 7, null, {}]) assert.match(await refused({ title, content }), /title/);
    assert.match(await refused({ title: 'x'.repeat(201), content }), /title must have at most 200 characters/);
    assert.equal((await save({ title: ` ${'x'.repeat(200)} `, content })).title, 'x'.repeat(200));
    assert.equal((await save({ title: '😀'.repeat(200), content })).title, '😀'.repeat(200));
    await refused({ title: '😀'.repeat(201), content });
  },
);

verifies(
  ['004 save_note/content', '004 errors/note_invalid'],
  'is required, not blank, and at most 50000 characters',
  async () => {
    for (const content of [undefined, '', ' \n', 7]) assert.match(await refused({ title: 't', content }), /content/);
    assert.match(
      await refused({ title: 't', content: 'x'.repeat(50_001) }),
      /content must have at most 50000 characters/,
    );
    const whole = `${'x'.repeat(49_990)}\n  end  \t`;
    assert.equal((await save({ title: 't', content: whole })).content, whole);
  },
);

verifies('004 save_note/tags', 'at most ten, trimmed, lowercased and deduplicated; none by default', async () => {
  const ten = Array.from({ length: 10 }, (_, index) => `Tag${index}`);
  assert.deepEqual((await save({ title: 't', content: 'c' })).tags, []);
  const { tags } = await save({ title: 't', content: 'c', tags: [...ten, ' TAG0 ', 'tag1'] });
  assert.deepEqual(
    tags,
    ten.map((tag) => tag.toLowerCase()),
  );
  assert.match(await refused({ title: 't', content: 'c', tags: [...ten, 'eleven'] }), /tags must have at most 10/);
  for (const bad of ['python', [7], { a: 1 }]) await refused({ title: 't', content: 'c', tags: bad });
  assert.deepEqual((await save({ title: 't', content: 'c', tags: '["a","b"]' })).tags, ['a', 'b']);
});

verifies('004 save_note/source_urls', 'at most twenty web addresses, stored unchanged; none by default', async () => {
  const urls = Array.from({ length: 20 }, (_, index) => `https://example.org/${index}?a=b#c`);
  assert.deepEqual((await save({ title: 't', content: 'c' })).source_urls, []);
  assert.deepEqual((await save({ title: 't', content: 'c', source_urls: urls })).source_urls, urls);
  assert.match(
    await refused({ title: 't', content: 'c', source_urls: [...urls, 'https://example.org/21'] }),
    /source_urls must have at most 20/,
  );
  for (const bad of ['ftp://a.example/', 'no url', 'javascript:alert(1)', '', 7]) {
    assert.match(await refused({ title: 't', content: 'c', source_urls: [bad] }), /source_urls\[0\]/);
  }
});

verifies('004 list_notes/query', 'contract §7: lists the most relevant first, with the matching passage', async () => {
  const filler = 'Nothing of interest is said in this sentence about the weather. '.repeat(20);
  await save({
    title: 'Weather',
    content: `${filler}Only here a quokka is mentioned. ${filler}`,
    tags: ['q1', 'animal'],
  });
  await save({ title: 'The quokka', content: 'The quokka is a small macropod. A quokka smiles.', tags: ['q1'] });
  await save({ title: 'Rottnest', content: 'An island.', tags: ['q1', 'animal'] });
  const { notes, total_count: total } = await list({ query: 'quokka' });
  assert.deepEqual(
    notes.map(({ title }) => title),
    ['The quokka', 'Weather'],
  );
  assert.equal(total, 2);
  assert.match(notes[1]?.snippet ?? '', /a quokka is mentioned/);
  assert.ok((notes[1]?.snippet.length ?? 999) < 300);
  assert.equal((await list({ query: '' })).total_count, (await list({})).total_count);
  assert.equal((await rpc.error('list_notes', { query: 'x'.repeat(1001) })).data.code, 'validation_error');
});

verifies('004 list_notes/tags', 'requires all tags, also with a query', async () => {
  const titles = async (args: object): Promise<string[]> => (await list(args)).notes.map(({ title }) => title);
  assert.deepEqual(await titles({ tags: ['q1', 'animal'] }), ['Rottnest', 'Weather']);
  assert.deepEqual(await titles({ tags: [' Q1 ', 'ANIMAL'] }), ['Rottnest', 'Weather']);
  assert.deepEqual(await titles({ query: 'quokka', tags: ['animal'] }), ['Weather']);
  assert.deepEqual(await titles({ query: 'quokka', tags: ['q1', 'nowhere'] }), []);
  assert.equal((await rpc.error('list_notes', { tags: 'q1' })).data.code, 'validation_error');
});

verifies(
  ['004 list_notes/limit', '004 list_notes/offset'],
  'pages have one to a hundred notes, twenty by default',
  async () => {
    const tag = randomUUID();
    await Promise.all(
      Array.from({ length: 25 }, (_, index) => save({ title: `n${index}`, content: 'c', tags: [tag] })),
    );
    const first = await list({ tags: [tag] });
    assert.deepEqual(
      [first.count, first.total_count, first.has_more, first.limit, first.offset],
      [20, 25, true, 20, 0],
    );
    const second = await list({ tags: [tag], offset: 20 });
    assert.deepEqual([second.count, second.has_more, second.offset], [5, false, 20]);
    const ids = new Set([...first.notes, ...second.notes].map(({ id }) => id));
    assert.equal(ids.size, 25);
    assert.equal((await list({ tags: [tag], limit: 100 })).count, 25);
    assert.equal((await list({ tags: [tag], offset: 1000 })).count, 0);
    for (const args of [{ limit: 0 }, { limit: 101 }, { limit: 2.5 }, { offset: -1 }, { offset: 'a' }]) {
      assert.equal((await rpc.error('list_notes', args)).data.code, 'validation_error', JSON.stringify(args));
    }
  },
);

verifies(
  ['004 get_note/id', '004 errors/note_not_found'],
  'returns the whole note, or note_not_found for an unknown id',
  async () => {
    const saved = await save({
      title: 'Whole',
      content: 'Line\n\n  two',
      tags: ['w'],
      source_urls: ['https://a.example'],
    });
    assert.deepEqual((await rpc.result('get_note', { id: saved.id }))['note'], saved);
    assert.deepEqual((await rpc.result('get_note', { id: saved.id.toUpperCase() }))['note'], saved);
    for (const id of [randomUUID(), '', 'x', "' OR 1=1 --", '../../etc/passwd', '%', 'x'.repeat(10_000)]) {
      const error = await rpc.error('get_note', { id });
      assert.equal(error.code, -32_000);
      assert.equal(error.data.code, 'note_not_found');
      assert.ok(JSON.stringify(error).length < 400);
    }
  },
);

test('contract §8: an empty list explains why, and what to do', async () => {
  const tag = randomUUID();
  await save({ title: 'hinted', content: 'a windmill', tags: [tag] });
  assert.equal((await list({ query: 'windmill', tags: [tag] })).hint, undefined);
  const cases: [object, RegExp][] = [
    [{ tags: [tag], offset: 7 }, /^offset 7 is past the last of 1 notes/],
    [{ tags: [tag, 'another'] }, /with all of these tags\. Omit some/],
    [{ query: 'zygote', tags: [tag] }, /^No note with all of these tags contains any of these words/],
    [{ query: 'qqxzjv' }, /^No note contains any of these words/],
  ];
  for (const [args, hint] of cases) assert.match((await list(args)).hint ?? '', hint, JSON.stringify(args));
});

test('contract §8 update_note: the given fields are replaced, the others stay', async () => {
  const saved = await save({ title: 'Draft', content: 'wombat', tags: ['d'], source_urls: ['https://a.example'] });
  const update = async (changes: object) =>
    (await rpc.result('update_note', { id: saved.id, ...changes }))['note'] as WireNote;
  const changed = await update({ content: 'echidna', tags: [' Final ', 'final'] });
  assert.deepEqual([changed.title, changed.content, changed.tags], ['Draft', 'echidna', ['final']]);
  assert.deepEqual([changed.source_urls, changed.created_at], [saved.source_urls, saved.created_at]);
  assert.ok(changed.updated_at > saved.updated_at);
  assert.deepEqual((await rpc.result('get_note', { id: saved.id }))['note'], changed);
  assert.deepEqual(await update({ id: saved.id.toUpperCase(), content: 'echidna' }), changed, 'changes nothing');
  assert.deepEqual([(await list({ query: 'wombat' })).count, (await list({ query: 'echidna' })).count], [0, 1]);
  assert.deepEqual((await update({ tags: [], source_urls: '[]' })).tags, []);
  for (const bad of [{}, { title: ' ' }, { content: '' }, { title: 'x'.repeat(201) }, { tags: 'x' }, { text: 'x' }]) {
    const error = await rpc.error('update_note', { id: saved.id, ...bad });
    assert.deepEqual([error.code, error.data.code], [-32_000, 'note_invalid'], JSON.stringify(bad));
  }
});

test('contract §8 delete_note: the note is gone until it is restored', async () => {
  const saved = await save({ title: 'Numbat', content: 'numbat', tags: ['numbat'] });
  const { id } = saved;
  const deleted = await rpc.result('delete_note', { id });
  const until = String(deleted['restorable_until']);
  assert.deepEqual(deleted, { id, deleted: true, restorable_until: until });
  assert.ok(Math.abs(Date.parse(until) - Date.now() - 30 * 86_400_000) < 3_600_000);
  assert.deepEqual(await rpc.result('delete_note', { id }), deleted, 'again, it changes nothing');
  for (const tool of ['get_note', 'update_note']) {
    assert.equal(
      (await rpc.error(tool, { id, ...(tool === 'get_note' ? {} : { title: 'x' }) })).data.code,
      'note_not_found',
    );
  }
  assert.deepEqual(
    [(await list({ query: 'numbat' })).total_count, (await list({ tags: ['numbat'] })).total_count],
    [0, 0],
  );
  assert.deepEqual(await rpc.result('delete_note', { id, restore: true }), { id, deleted: false });
  assert.deepEqual((await rpc.result('get_note', { id }))['note'], saved);
  assert.equal((await list({ query: 'numbat', tags: ['numbat'] })).total_count, 1);
});

test('update_note, delete_note: an id that names nothing is note_not_found', async () => {
  for (const id of [randomUUID(), '', 'x', "' OR 1=1 --", '%']) {
    for (const args of [{ restore: true }, { restore: false }]) {
      assert.equal((await rpc.error('delete_note', { id, ...args })).data.code, 'note_not_found');
    }
    const error = await rpc.error('update_note', { id, title: 'x' });
    assert.deepEqual([error.code, error.data.code], [-32_000, 'note_not_found']);
  }
  assert.equal((await rpc.error('delete_note', {})).data.code, 'validation_error');
});

test('idempotency_key: a repeated write is done once, and a key belongs to one call', async () => {
  const fresh = { title: 'Once', content: 'bilby', idempotency_key: randomUUID() };
  const saved = await save(fresh);
  assert.deepEqual(await save(fresh), saved);
  assert.equal((await list({ query: 'bilby' })).total_count, 1);
  const update = { id: saved.id, title: 'Twice', idempotency_key: randomUUID() };
  const first = await rpc.result('update_note', update);
  await rpc.result('update_note', { id: saved.id, title: 'Thrice' });
  assert.deepEqual(await rpc.result('update_note', update), first);
  assert.equal(((await rpc.result('get_note', { id: saved.id }))['note'] as WireNote).title, 'Thrice');
  const { idempotency_key: used } = update;
  const error = await rpc.error('delete_note', { id: saved.id, idempotency_key: used });
  assert.deepEqual([error.code, error.data.code], [-32_000, 'idempotency_conflict']);
});

test('--read-only offers no tool that changes a note', async (t) => {
  const { rpc: readOnly } = await startResearch({}, t, ['--read-only']);
  for (const tool of ['save_note', 'update_note', 'delete_note']) {
    assert.equal((await readOnly.error(tool, { id: randomUUID() })).data.code, 'tool_disabled');
  }
});

verifies('004 errors/validation_error', 'the message names the argument and the problem', async () => {
  assert.equal((await rpc.error('get_note', {})).data.code, 'validation_error');
  const error = await rpc.error('list_notes', { limit: 500, ofset: 3 });
  assert.equal(error.code, -32_000);
  assert.match(error.message, /limit must be at most 100/);
  assert.match(error.message, /does not take ofset/);
  assert.ok(Array.isArray(error.data.details['faults']));
});

verifies('004 errors/note_save_failed', 'reports a failed write instead of a saved note', async () => {
  const present = await save({ title: 'present', content: 'present' });
  const other = new DatabaseSync(join(carrel.dataDir, 'carrel.db'));
  other.exec('BEGIN IMMEDIATE');
  const error = await rpc.error('save_note', { title: 'locked out', content: 'lockedout' });
  assert.equal(error.code, -32_000);
  assert.equal(error.data.code, 'note_save_failed');
  assert.equal(error.data.details['reason'], 'storage_busy');
  const { code } = (await rpc.error('delete_note', { id: present.id })).data;
  assert.equal(code, 'note_save_failed');
  other.exec('ROLLBACK');
  other.close();
  assert.equal((await list({ query: 'lockedout' })).total_count, 0);
  await save({ title: 'locked out', content: 'lockedout' });
  assert.equal((await list({ query: 'lockedout' })).total_count, 1);
});
