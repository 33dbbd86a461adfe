import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { EntryStore } from '../../src/storage/entries/entry-store.ts';
import type { PassageStore } from '../../src/storage/passages/passage-store.ts';
import { exactWord, plainQuery, type WordQuery } from '../../src/words/word-query.ts';
import { onEachBackend } from '../support/backends.ts';
import { type PassageWriter, passageWriter } from '../support/passages.ts';

onEachBackend('misspelt words', (backend) => {
  let entries: EntryStore;
  let passages: PassageStore;
  let writer: PassageWriter;
  const texts: Record<string, string> = {};
  const search = (query: WordQuery, threadId?: string) =>
    entries.searchWords({ query, filter: { threadId }, limit: 10, offset: 0, explain: false });
  const found = async (query: string, threadId?: string) =>
    (await search(plainQuery(query), threadId)).hits.map(({ id }) => texts[id]);
  const store = async (threadId: string, ...fresh: string[]) => {
    const stored = await entries.store({
      entries: fresh.map((text) => ({
        ...{ threadId, text, source: 'user' as const, metadata: undefined, tags: [], images: [], summary: undefined },
      })),
    });
    stored.forEach(({ id }, index) => {
      texts[id] = fresh[index] ?? '';
    });
    return stored.map(({ id }) => id);
  };

  before(async () => {
    const storage = await backend.open();
    entries = storage.entries;
    passages = storage.passages;
    writer = passageWriter(storage);
    await store('office', 'The invoice was paid in May.', 'Quarterly figures are late.', 'Lunch is at noon.');
    await store('secret', 'The marmalade plan must stay hidden.');
  });

  test('are replaced by the closest words, which are reported', async () => {
    assert.deepEqual(await found('invioce'), [texts[1]]);
    assert.deepEqual(await found('quartrely figrues'), [texts[2]]);
    const { corrected, hits, scoreMax } = await search(plainQuery('when was the invioce paid'));
    assert.deepEqual(corrected, [{ word: 'invioce', terms: ['invoice'] }]);
    const right = await search(plainQuery('when was the invoice paid'));
    assert.deepEqual([right.corrected, right.hits[0]?.id], [[], hits[0]?.id]);
    assert.ok((hits[0]?.score ?? 0) < (right.hits[0]?.score ?? 0) && scoreMax < right.scoreMax);
    const { documents } = await entries.scoreWords({ query: plainQuery('invioce'), keys: [1, 2] });
    assert.deepEqual(
      documents.map(({ key, terms }) => [key, terms.map(({ near }) => near)]),
      [[1, [['invoice']]]],
    );
  });

  test('rank exact matches before near ones', async () => {
    const ids = await store('mixed', 'The lantern is in the shed.', 'The lectern is in the hall.');
    const { hits } = await search(plainQuery('lantern lectren'), 'mixed');
    assert.deepEqual(
      hits.map(({ id }) => id),
      ids,
    );
  });

  test('do not include common words that no document has', async () => {
    await store('common', 'The lift is out of order.');
    assert.deepEqual(await found('gift ideas', 'common'), []);
    assert.equal((await found('liftt', 'common')).length, 1);
  });

  test('are resolved by the document that has all of them', async () => {
    await store('leave', 'The sleeve was too long.', 'Parental leave takes sixteen weeks.', 'A sleeve is knitted.');
    const { corrected } = await search(plainQuery('parentel leeve'), 'leave');
    assert.deepEqual(corrected, [
      { word: 'parentel', terms: ['parental'] },
      { word: 'leeve', terms: ['leave', 'sleeve'] },
    ]);
  });

  test('do not match or reveal words that only others may see', async () => {
    assert.deepEqual(await found('marmelade', 'secret'), [texts[4]]);
    const hidden = await search(plainQuery('marmelade'), 'office');
    assert.deepEqual([hidden.hits, hidden.corrected], [[], []]);
    const both = await search(plainQuery('marmelade invoice'), 'office');
    assert.deepEqual([both.hits.map(({ id }) => id), both.corrected], [[1], []]);
  });

  test('stay as written in quotes, in phrases and where a document has them', async () => {
    assert.deepEqual(await found('"invioce"'), []);
    await store('typos', 'He wrote invioce again.');
    assert.deepEqual(await found('invioce'), ['He wrote invioce again.']);
  });

  test('follow additions and removals', async () => {
    const [id = 0] = await store('later', 'A trombone was bought.');
    assert.deepEqual(await found('trombnoe'), ['A trombone was bought.']);
    await entries.remove({ ids: [id], dryRun: false });
    assert.deepEqual(await found('trombnoe'), []);
  });

  test('are corrected in queries with operators, but not where they exclude', async () => {
    const any = (word: string) => exactWord(word);
    const both: WordQuery = { kind: 'and', parts: [any('quartrely'), any('late')] };
    assert.deepEqual((await search(both, 'office')).total, 1);
    const except: WordQuery = { kind: 'except', keep: any('figures'), drop: any('quartrely') };
    assert.equal((await search(except, 'office')).total, 1);
  });

  test('are corrected for passages', async () => {
    const passage = (id: string, title: string, body: string) => ({
      ...{ id, title, headings: [], body, labels: [] },
    });
    await writer.replace([
      { parent: 'a', passages: [passage('a-0', 'Deployment guide', 'Run the installer on each machine.')] },
      { parent: 'b', passages: [passage('b-0', 'Menu', 'Soup and bread.')] },
    ]);
    const { hits, corrected } = await passages.search({
      query: plainQuery('instlaler deploymnet'),
      limit: 5,
      offset: 0,
    });
    assert.deepEqual(writer.idsOf(hits), ['a-0']);
    assert.deepEqual(corrected, [
      { word: 'instlaler', terms: ['installer'] },
      { word: 'deploymnet', terms: ['deployment'] },
    ]);
  });
});
