import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { before, test } from 'node:test';
import type { NewNote, NoteListRequest, NoteStore } from '../../src/storage/notes/notes.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { onEachBackend } from '../support/backends.ts';
import { markedText } from '../support/marked-text.ts';

/** More than are ranked. */
const paged = 230;

onEachBackend('notes', (backend) => {
  let notes: NoteStore;
  let storage: Storage;
  let time = Date.parse('2026-01-01T00:00:00.000Z');
  const now = () => {
    time += 1000;
    return new Date(time);
  };
  const note = (title: string, content: string, tags: string[] = []): NewNote => ({
    title,
    content,
    tags,
    sourceUrls: [],
  });
  const titles = async (request: Partial<NoteListRequest>): Promise<string[]> =>
    (await notes.list({ limit: 100, offset: 0, ...request })).notes.map(({ title }) => title);

  before(async () => {
    storage = await backend.open({ now });
    notes = storage.notes;
    for (const entry of corpus) await notes.save(note(...entry));
  });

  test('004 save_note, get_note: a note comes back as it was saved', async () => {
    const saved = await notes.save({
      title: 'Ünïcode 大阪 😀',
      content: 'Line one\n\n  line two\ttab; \'quotes\' "double" \\ % _',
      tags: ["it's", 'a,b', '"q"'],
      sourceUrls: ['https://example.org/?a=b&c=%20'],
    });
    assert.match(saved.id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.match(saved.createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.equal(saved.updatedAt, saved.createdAt);
    assert.deepEqual(await notes.get(saved.id), saved);
    assert.deepEqual(await titles({ tags: ["it's", 'a,b', '"q"'] }), ['Ünïcode 大阪 😀']);
  });

  test('a note of the maximum size is saved and found by its last word', async () => {
    const content = `${'word '.repeat(9998)}zyzzyva`.padStart(50_000, '.');
    const saved = await notes.save(note('t'.repeat(200), content));
    assert.equal((await notes.get(saved.id))?.content, content);
    const page = await notes.list({ query: 'zyzzyva', limit: 10, offset: 0 });
    assert.deepEqual(
      page.notes.map(({ id }) => id),
      [saved.id],
    );
    assert.match(
      markedText(page.notes[0]?.snippet ?? { text: '', marks: [], range: [0, 0] }, '[', ']'),
      /\[zyzzyva\]$/,
    );
  });

  test('replaces characters that no database can store', async () => {
    const saved = await notes.save(note('nul\0 and half \ud800', 'x'));
    assert.equal(saved.title, 'nul\ufffd and half \ufffd');
    assert.deepEqual(await notes.get(saved.id), saved);
  });

  test('004 get_note: returns nothing for an unknown id', async () => {
    for (const id of ['550e8400-e29b-41d4-a716-446655440000', '', "' OR 1=1 --", '\0']) {
      assert.equal(await notes.get(id), undefined);
    }
  });

  test('004 list_notes: lists the newest first without a query', async () => {
    const listed = await titles({ tags: ['order'] });
    assert.deepEqual(listed, ['order three', 'order two', 'order one']);
  });

  test('contract §7: lists the most relevant first with a query, narrowed by tags', async () => {
    assert.equal((await titles({ query: 'python' }))[0], 'Python overview');
    assert.deepEqual(await titles({ query: 'python', tags: ['snakes'] }), ['Reptiles']);
    assert.deepEqual(await titles({ query: 'python', tags: ['snakes', 'absent'] }), []);
  });

  test('004 list_notes: requires every given tag', async () => {
    assert.deepEqual(await titles({ tags: ['language', 'scripting'] }), ['Python overview']);
    assert.deepEqual((await titles({ tags: ['language'] })).sort(), ['Python overview', 'Rust overview']);
    assert.deepEqual(await titles({ tags: ['lang'] }), []);
    assert.deepEqual(await titles({ tags: ['%'] }), []);
    assert.deepEqual(await titles({ tags: ['language', 'language', 'scripting'] }), ['Python overview']);
  });

  test('finds tags with composed or decomposed accents', async () => {
    const forms = ['th\u00e9', 'the\u0301'];
    for (const [index, tag] of forms.entries()) await notes.save(note(`Forms ${index}`, 'forms', [tag, 'drinks']));
    for (const tags of [...forms.map((tag) => [tag, 'drinks']), forms]) {
      assert.deepEqual((await titles({ tags })).sort(), ['Forms 0', 'Forms 1']);
      assert.deepEqual((await titles({ query: 'forms', tags })).sort(), ['Forms 0', 'Forms 1']);
    }
    assert.deepEqual(await titles({ tags: ['the'] }), []);
  });

  test('a question finds its answer by any of its words', async () => {
    assert.equal((await titles({ query: 'What is the borrow checker good for?' }))[0], 'Rust overview');
  });

  test('words are found in other forms, and in titles and tags', async () => {
    assert.deepEqual(await titles({ query: 'migrates' }), ['Birds']);
    assert.deepEqual(await titles({ query: 'bird' }), ['Birds']);
    assert.deepEqual(await titles({ query: 'scripting' }), ['Python overview']);
  });

  const languages: [query: string, title: string][] = [
    ['東京', 'Japanese'],
    ['京都', 'Japanese'],
    ['猫', 'Japanese'],
    ['ﾃｽﾄ', 'Japanese'],
    ['机器', 'Chinese'],
    ['学习', 'Chinese'],
    ['한국', 'Korean'],
    ['ไทย', 'Thai'],
    ['cafe', 'Accents'],
    ['NAÏVE', 'Accents'],
    ['ｆｕｌｌ', 'Accents'],
  ];
  for (const [query, title] of languages) {
    test(`words: ${query} finds the ${title} note`, async () => {
      assert.deepEqual(await titles({ query }), [title]);
    });
  }

  const identifiers = ['fooBar', 'foobar', 'foo', 'foo_bar', 'a.b.c', 'multi-agent', 'agent', '20.04', 'C++'];
  for (const query of identifiers) {
    test(`words: ${query} finds the code note`, async () => {
      assert.ok((await titles({ query })).includes('Code'));
    });
  }

  test('the snippet shows the match', async () => {
    const page = await notes.list({ query: 'borrow', limit: 1, offset: 0 });
    const [first] = page.notes;
    assert.ok(first);
    assert.match(markedText(first.snippet, '<', '>'), /^….*its <borrow> checker/);
    assert.ok(first.snippet.text.length <= 202);
  });

  test('without a query the snippet is the beginning', async () => {
    const page = await notes.list({ tags: ['scripting'], limit: 1, offset: 0 });
    assert.deepEqual(page.notes[0]?.snippet.marks, []);
    assert.match(page.notes[0]?.snippet.text ?? '', /^Python is a versatile/);
  });

  for (const query of [undefined, 'filler', 'filler common']) {
    test(`pages of ${query ?? 'everything'} are disjoint, complete and stable`, async () => {
      const all = await notes.list({ query, tags: ['page'], limit: 1000, offset: 0 });
      assert.equal(all.total, paged);
      const ids: string[] = [];
      for (let offset = 0; offset < paged; offset += 47) {
        const page = await notes.list({ query, tags: ['page'], limit: 47, offset });
        assert.equal(page.total, paged);
        ids.push(...page.notes.map(({ id }) => id));
      }
      assert.equal(new Set(ids).size, paged);
      assert.deepEqual(
        ids,
        all.notes.map(({ id }) => id),
      );
    });
  }

  test('equal notes are ordered by id', async () => {
    const { notes: page } = await notes.list({ query: 'twin', limit: 10, offset: 0 });
    const ids = page.map(({ id }) => id);
    assert.equal(ids.length, 4);
    assert.deepEqual(ids, [...ids].sort());
  });

  const literals = [
    ...['"', '*', '(', ')', 'AND', 'OR', 'NOT', 'NOT x', 'a,b', "a'b", 'title : x', '-title:x', '{title content}: x'],
    ...['NEAR(a b, 5)', '^a', 'a + b', '', ' ', '😀', '\0', "'; DROP TABLE notes; --", '%', '_', '\\', '[', 'a & | b'],
    ...["':*'", '!!', '<->', "'", '"unclosed', '\ud800', 'rank:1', 'notes_fts', '$1', '?', ':name', '{}', '""""'],
    ...['('.repeat(500), '"'.repeat(501), 'alpha OR '.repeat(5000), '"a"* '.repeat(500), 'x'.repeat(1_000_000)],
  ];
  test('T100, T102, T103: treats every query as literal text', async () => {
    for (const query of literals) {
      const page = await notes.list({ query, limit: 5, offset: 0 });
      assert.ok(page.total >= page.notes.length);
    }
    assert.deepEqual(await titles({ query: '"borrow" AND (checker' }), ['Rust overview']);
    assert.deepEqual(await titles({ query: 'title:zebra NOT rust' }).then((found) => found[0]), 'Rust overview');
    assert.deepEqual(await titles({ query: '' }), []);
  });

  test('limits stated by the tools also hold in the database', async () => {
    const tooMuch: NewNote[] = [
      note('', 'x'),
      note('t'.repeat(201), 'x'),
      note('t', 'x'.repeat(50_001)),
      note(
        't',
        'x',
        Array.from({ length: 11 }, (_, index) => `tag${index}`),
      ),
      { ...note('t', 'x'), sourceUrls: Array.from({ length: 21 }, (_, index) => `https://example.org/${index}`) },
    ];
    const before = (await notes.list({ limit: 1, offset: 0 })).total;
    for (const refused of tooMuch) await assert.rejects(notes.save(refused));
    assert.equal((await notes.list({ limit: 1, offset: 0 })).total, before);
  });

  const day = 86_400_000;
  const find = async (query: string) => (await notes.list({ query, limit: 10, offset: 0 })).notes.map(({ id }) => id);
  const missing = { code: 'note_not_found' };

  test('update: replaces the given fields, in the note and in every index', async () => {
    const saved = await notes.save({
      ...note('Old heading', 'oldword', ['oldtag']),
      sourceUrls: ['https://a.example'],
    });
    const changed = await notes.update({ id: saved.id, changes: { content: 'newword', tags: ['newtag', 'newtag'] } });
    assert.ok(changed.updatedAt > saved.updatedAt);
    const { updatedAt } = changed;
    assert.deepEqual(changed, { ...saved, content: 'newword', tags: ['newtag', 'newtag'], updatedAt });
    assert.deepEqual(await notes.get(saved.id), changed);
    assert.deepEqual([await find('oldword'), await find('oldtag')], [[], []]);
    assert.deepEqual([await find('newword'), await find('newtag'), await find('heading')], Array(3).fill([saved.id]));
    assert.deepEqual([await titles({ tags: ['oldtag'] }), await titles({ tags: ['newtag'] })], [[], ['Old heading']]);
    const cleared = await notes.update({ id: saved.id, changes: { title: 'New', tags: [], sourceUrls: [] } });
    assert.deepEqual([cleared.title, cleared.tags, cleared.sourceUrls], ['New', [], []]);
    assert.deepEqual([await find('heading'), await titles({ tags: ['newtag'] })], [[], []]);
    assert.deepEqual(await storage.check(), []);
  });

  test('update: no change keeps updatedAt; exceeding a limit changes nothing', async () => {
    const saved = await notes.save(note('steady', 'steadyword', ['x']));
    assert.deepEqual(await notes.update({ id: saved.id, changes: { title: 'steady', tags: ['x'] } }), saved);
    for (const changes of [{ title: '' }, { content: 'x'.repeat(50_001) }, { title: 't'.repeat(201), content: 'y' }]) {
      await assert.rejects(notes.update({ id: saved.id, changes }));
    }
    assert.deepEqual(await notes.get(saved.id), saved);
    assert.deepEqual(await find('steadyword'), [saved.id]);
    await assert.rejects(notes.update({ id: randomUUID(), changes: { title: 'x' } }), missing);
  });

  test('remove, restore: hides the note, then restores it unchanged', async () => {
    const saved = await notes.save(note('Doomed', 'doomedword', ['doomed']));
    const { total } = await notes.list({ limit: 1, offset: 0 });
    const { deletedAt } = await notes.remove({ id: saved.id });
    assert.deepEqual(await notes.remove({ id: saved.id }), { deletedAt });
    assert.equal(await notes.get(saved.id), undefined);
    assert.deepEqual([await find('doomedword'), await titles({ tags: ['doomed'] })], [[], []]);
    assert.deepEqual(await titles({ query: 'doomedword', tags: ['doomed'] }), []);
    assert.equal((await notes.list({ limit: 1, offset: 0 })).total, total - 1);
    await assert.rejects(notes.update({ id: saved.id, changes: { title: 'x' } }), missing);
    assert.deepEqual(await storage.check(), []);
    assert.deepEqual(await notes.restore({ id: saved.id }), saved);
    assert.deepEqual(await notes.restore({ id: saved.id }), saved);
    assert.deepEqual(await notes.get(saved.id), saved);
    assert.deepEqual([await find('doomedword'), await titles({ tags: ['doomed'] })], [[saved.id], ['Doomed']]);
    for (const write of [notes.remove, notes.restore]) await assert.rejects(write({ id: randomUUID() }), missing);
    assert.deepEqual(await storage.check(), []);
  });

  test('remove: restorable for thirty days, then purged by the next write', async () => {
    const [first, second] = [await notes.save(note('thirty', 'a')), await notes.save(note('thirty', 'b'))];
    await notes.remove({ id: first.id });
    await notes.remove({ id: second.id });
    time += 30 * day - 5000;
    assert.equal((await notes.restore({ id: first.id })).id, first.id);
    time += 10_000;
    await assert.rejects(notes.restore({ id: second.id }), missing);
    await assert.rejects(notes.remove({ id: second.id }), missing);
    await notes.save(note('the next', 'write'));
    time -= 20 * day;
    await assert.rejects(notes.restore({ id: second.id }), missing, 'it is gone for good');
    assert.ok(await notes.get(first.id));
  });

  test('idempotency: the same call under the same key is done once; another is a conflict', async () => {
    const key = { key: randomUUID(), bodyHash: 'a' };
    const fresh = { ...note('once', 'onceword'), idempotency: key };
    const [saved, again] = await Promise.all([notes.save(fresh), notes.save(fresh)]);
    assert.deepEqual(again, saved);
    assert.deepEqual(await find('onceword'), [saved.id]);
    await assert.rejects(notes.save({ ...fresh, idempotency: { ...key, bodyHash: 'b' } }), {
      code: 'idempotency_conflict',
    });
    const late = { key: randomUUID(), bodyHash: 'c' };
    const first = await notes.update({ id: saved.id, changes: { content: 'first' }, idempotency: late });
    await notes.update({ id: saved.id, changes: { content: 'second' } });
    assert.deepEqual(await notes.update({ id: saved.id, changes: { content: 'first' }, idempotency: late }), first);
    assert.equal((await notes.get(saved.id))?.content, 'second');
    const unsaved = { id: randomUUID(), idempotency: { key: randomUUID(), bodyHash: 'd' } };
    await assert.rejects(notes.remove(unsaved), missing);
    await assert.rejects(notes.remove(unsaved), missing, 'a failure is not remembered as done');
  });

  test('update: concurrent updates are atomic', async () => {
    const { id } = await notes.save(note('contended', 'start'));
    const numbers = Array.from({ length: 20 }, (_, index) => `contender${index}`);
    await Promise.all(numbers.map((word) => notes.update({ id, changes: { title: word, content: word } })));
    const last = await notes.get(id);
    assert.equal(last?.title, last?.content);
    const found = await Promise.all(numbers.map(find));
    assert.deepEqual(
      numbers.filter((_, index) => found[index]?.includes(id)),
      [last?.title],
    );
    assert.deepEqual(await storage.check(), []);
  });

  test('update: keeps concurrent changes of different fields', async () => {
    const saved = await Promise.all(Array.from({ length: 20 }, () => notes.save(note('before', 'before'))));
    const fields = [{ title: 'after' }, { content: 'after' }];
    await Promise.all(saved.flatMap(({ id }) => fields.map((changes) => notes.update({ id, changes }))));
    for (const { id } of saved) {
      const { title, content } = (await notes.get(id)) ?? {};
      assert.deepEqual([title, content], ['after', 'after']);
    }
  });

  test('keeps all concurrent writes', async () => {
    const saved = await Promise.all(
      Array.from({ length: 50 }, (_, index) => notes.save(note(`parallel ${index}`, 'concurrently', ['parallel']))),
    );
    assert.equal(new Set(saved.map(({ id }) => id)).size, 50);
    assert.equal((await notes.list({ query: 'concurrently', limit: 1, offset: 0 })).total, 50);
  });
});

const filler = 'Many words that say little about anything in particular are put here to fill the page. '.repeat(4);

const corpus: [title: string, content: string, tags?: string[]][] = [
  ['order one', 'first', ['order']],
  ['order two', 'second', ['order']],
  ['order three', 'third', ['order']],
  ['Python overview', 'Python is a versatile language. Python runs everywhere.', ['language', 'scripting']],
  ['Rust overview', `${filler}Rust is known for its borrow checker. Unlike python, it compiles.`, ['language']],
  ['Reptiles', `${filler}Among the reptiles, the python is a large snake.`, ['snakes']],
  ['Birds', 'The arctic tern is migrating from pole to pole.'],
  ['Japanese', '私は東京都庁と京都に行きました。猫が好きです。テスト'],
  ['Chinese', '机器学习是人工智能的一个分支'],
  ['Korean', '한국어를 배우고 있습니다'],
  ['Thai', 'ฉันพูดภาษาไทยได้'],
  ['Accents', 'Un café naïf: naïve, ｆｕｌｌ width'],
  ['Code', 'call fooBar() or foo_bar, then a.b.c in a multi-agent C++ program on Ubuntu 20.04'],
  ...Array.from({ length: 4 }, (): [string, string] => ['twin', 'the same text']),
  ...Array.from({ length: paged }, (_, index): [string, string, string[]] => [
    `page ${index}`,
    `filler ${'common '.repeat(index % 7)}${'lengthening '.repeat(index % 11)}`,
    ['page'],
  ]),
];
