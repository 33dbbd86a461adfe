import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { PassageFilter } from '../../src/storage/passages/passage.ts';
import type { PassageStore } from '../../src/storage/passages/passage-store.ts';
import { parseBooleanQuery } from '../../src/words/boolean-query.ts';
import { phraseQuery, plainQuery, type WordQuery } from '../../src/words/word-query.ts';
import { onEachBackend } from '../support/backends.ts';
import { type PassageWriter, passageWriter, type TestPassage } from '../support/passages.ts';

onEachBackend('passages', (backend) => {
  let kb: PassageStore;
  let writer: PassageWriter;
  const ids = async (query: WordQuery, filter?: PassageFilter): Promise<string[]> =>
    writer.idsOf((await kb.search({ query, filter, limit: 100, offset: 0 })).hits);

  before(async () => {
    const storage = await backend.open();
    kb = storage.passages;
    writer = passageWriter(storage);
    await writer.replace([
      {
        parent: 'guide',
        passages: [
          passage('guide-0', 'Deployment guide', ['Install'], 'Run the installer on each machine.', ['docs', 'v2']),
          passage('guide-1', 'Deployment guide', ['Upgrade'], 'Rolling updates replace one machine at a time.', [
            'docs',
          ]),
          passage('guide-2', 'Deployment guide', ['Upgrade', 'Rollback'], 'A failed update is rolled back.', [
            'docs',
            'v2',
          ]),
        ],
      },
      { parent: 'faq', passages: [passage('faq-0', 'FAQ', [], 'What is a machine? Any host.', ['faq', 'v2'])] },
    ]);
  });

  test('a passage comes back as written, with its document', async () => {
    const [hit] = (await kb.search({ query: plainQuery('installer'), limit: 1, offset: 0 })).hits;
    assert.ok(hit && hit.score > 0);
    assert.deepEqual(await kb.get([hit.key, hit.key + 1000]), [
      {
        ...passage('', 'Deployment guide', ['Install'], 'Run the installer on each machine.', []),
        ...{ id: hit.id, key: hit.key, parent: hit.parent, position: 0, labels: ['type:text', 'tag:docs', 'tag:v2'] },
      },
    ]);
  });

  test('words are found in title, headings and body', async () => {
    assert.deepEqual((await ids(plainQuery('deployment'))).sort(), ['guide-0', 'guide-1', 'guide-2']);
    assert.deepEqual(await ids(plainQuery('rollback')), ['guide-2']);
    assert.deepEqual(await ids(plainQuery('hosts')), ['faq-0']);
  });

  test('a heading weighs more than the same word in a body', async () => {
    assert.equal((await ids(plainQuery('install')))[0], 'guide-0');
  });

  test('phrases match in order, within one field', async () => {
    assert.deepEqual(await ids(phraseQuery('rolling updates')), ['guide-1']);
    assert.deepEqual(await ids(phraseQuery('updates rolling')), []);
    assert.deepEqual(await ids(phraseQuery('guide install')), []);
    assert.deepEqual(await ids(phraseQuery('one mach')), []);
    assert.deepEqual(await ids(parseBooleanQuery('"one mach"*').query), ['guide-1']);
  });

  test('supports operators, prefixes and parentheses', async () => {
    assert.deepEqual((await ids(parseBooleanQuery('machine AND (host OR installer)').query)).sort(), [
      'faq-0',
      'guide-0',
    ]);
    assert.deepEqual(await ids(parseBooleanQuery('machine NOT deployment').query), ['faq-0']);
    assert.deepEqual(await ids(parseBooleanQuery('machine NOT "rolling updates" NOT "the installer"').query), [
      'faq-0',
    ]);
    assert.deepEqual((await ids(parseBooleanQuery('updat*').query)).sort(), ['guide-1', 'guide-2']);
    assert.deepEqual(await ids(parseBooleanQuery('NOT machine').query), []);
    assert.deepEqual(await ids(parseBooleanQuery('"rolling updates" AND rolling AND NOT absent').query), ['guide-1']);
  });

  test('requires one label of each group', async () => {
    const machine = plainQuery('machine update');
    assert.deepEqual(await ids(machine, { labels: [['tag:faq']] }), ['faq-0']);
    assert.deepEqual((await ids(machine, { labels: [['tag:docs', 'tag:faq'], ['tag:v2']] })).sort(), [
      'faq-0',
      'guide-0',
      'guide-2',
    ]);
    assert.deepEqual(await ids(machine, { labels: [['tag:docs'], ['tag:faq']] }), []);
    assert.deepEqual(await ids(machine, { labels: [[]] }), []);
    assert.deepEqual(await ids(machine, { labels: [["tag:v2' OR 1=1"]] }), []);
  });

  test('finds labels with names that no database can store unchanged', async () => {
    const [label, parent] = ['half \ud800', 'nul \0'];
    const passages = [passage('odd', '', [], 'peculiar', [label])];
    await writer.replace([{ parent, passages }]);
    const filter = { labels: [[`tag:${label}`]] };
    const { hits } = await kb.search({ query: plainQuery('peculiar'), filter, limit: 2, offset: 0 });
    assert.deepEqual(writer.idsOf(hits), ['odd']);
  });

  test('explains a rank: each term with its share of the score', async () => {
    const query = plainQuery('failed machine updates');
    const { hits, scoreMax } = await kb.search({ query, limit: 10, offset: 0 });
    const { documents, scoreMax: again } = await kb.scoreWords({
      query,
      keys: [...hits.map(({ key }) => key), 1_000_000],
    });
    assert.equal(again, scoreMax);
    assert.equal(documents.length, hits.length);
    for (const { key, score } of hits) {
      const found = documents.find((each) => each.key === key);
      assert.ok(found && Math.abs(found.score - score) < 1e-9 && score < scoreMax);
    }
    const rollback = documents.find(({ key }) => key === hits.find((hit) => writer.idsOf([hit])[0] === 'guide-2')?.key);
    assert.deepEqual(
      rollback?.terms.map(({ term }) => term),
      ['fail', 'updat'],
    );
    assert.deepEqual(
      (await kb.scoreWords({ query: plainQuery('zebra'), keys: hits.map(({ key }) => key) })).documents,
      [],
    );
  });

  test('a document is replaced and removed as a whole', async () => {
    const page = (query: string) => kb.search({ query: plainQuery(query), limit: 10, offset: 0 });
    const write = (bodies: string[]) =>
      writer.replace([
        { parent: 'doc', passages: bodies.map((body, index) => passage(`doc-${index}`, '', [], body, ['l'])) },
      ]);
    await write(['alpha one', 'beta two']);
    await write(['gamma one']);
    assert.deepEqual([(await page('alpha beta two')).total, (await page('gamma')).total], [0, 1]);
    await writer.remove(['doc', 'absent']);
    assert.equal((await page('gamma')).total, 0);
  });

  test('each passage of large writes is found by its own words, phrases and names', async () => {
    const counts = [33, 700, 65, 1];
    for (const [write, count] of counts.entries()) {
      const many = Array.from({ length: count }, (_, at) =>
        passage(`w${write}-${at}`, `Sheet ${write}`, [`Row${write}x${at}`], `mixed.name${write}x${at} was running`, [
          `write${write}`,
        ]),
      );
      await writer.replace([{ parent: `write${write}`, passages: many }]);
    }
    const found = async (query: WordQuery) => writer.idsOf((await kb.search({ query, limit: 2, offset: 0 })).hits);
    for (const [write, count] of counts.entries()) {
      for (let at = 0; at < count; at += 31) {
        assert.deepEqual(await found(plainQuery(`row${write}x${at}`)), [`w${write}-${at}`]);
        assert.deepEqual(await found(phraseQuery(`name${write}x${at} was running`)), [`w${write}-${at}`]);
        assert.equal((await found(plainQuery(`mixed.name${write}x${at}`)))[0], `w${write}-${at}`);
      }
      const page = await kb.search({
        query: plainQuery('runs'),
        filter: { labels: [[`tag:write${write}`]] },
        limit: 1,
        offset: 0,
      });
      assert.equal(page.total, count);
    }
  });

  test('pages of many matches are disjoint, complete and stable', async () => {
    const many = Array.from({ length: 1000 }, (_, index) =>
      passage(`many-${index}`, `n${index % 3}`, [], `common ${'twice '.repeat(index % 5)}word${index}`, []),
    );
    await writer.replace([{ parent: 'many', passages: many }]);
    const seen: string[] = [];
    for (let offset = 0; offset < 1000; offset += 70) {
      const page = await kb.search({ query: plainQuery('common twice'), limit: 70, offset });
      assert.equal(page.total, 1000);
      seen.push(...page.hits.map(({ id }) => id));
    }
    assert.equal(new Set(seen).size, 1000);
    const again = await kb.search({ query: plainQuery('common twice'), limit: 1000, offset: 0 });
    assert.deepEqual(
      again.hits.map(({ id }) => id),
      seen,
    );
  });
});

function passage(id: string, title: string, headings: string[], body: string, labels: string[]): TestPassage {
  return { id, title, headings, body, labels };
}
