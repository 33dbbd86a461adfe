import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openReranker } from './open-reranker.ts';

const settings = { enabled: 'auto', provider: 'local', url: undefined, model: undefined, apiKey: undefined } as const;
const reranker = openReranker({ ...settings, threads: 1, budgetMs: 60_000 });
after(() => reranker.close());

test('ranks the answer before passages that share more words with the question', async () => {
  const query = 'When does the rent have to be paid?';
  const { state, logits } = await reranker.score(query, [
    'We have paid for the tent that we rent when it rains.',
    'Rent for the flat is due by the third working day of each month, by standing order.',
    'Tomatoes are sown in March and planted out in May.',
  ]);
  assert.deepEqual(state, { state: 'applied' });
  const [misleading = 0, answer = 0, unrelated = 0] = logits;
  assert.ok(answer > misleading && misleading > unrelated, JSON.stringify(logits));
  assert.equal(reranker.judge({ logit: unrelated, lead: -4, words: 0, cosine: 0.62, length: 200 }).isWeak, true);
  assert.equal(reranker.judge({ logit: answer, lead: 3, words: 0.3, cosine: 0.85, length: 200 }).isWeak, false);
});

test('gives the same logits on one core and on several', async () => {
  const parallel = openReranker({ ...settings, threads: 3, budgetMs: 60_000 });
  const passages = ['Rent is due on the third.', 'The rent for the flat is paid by standing order. '.repeat(20)];
  const [one, several] = await Promise.all(
    [reranker, parallel].map((each) => each.score('When is rent due?', passages)),
  );
  await parallel.close();
  assert.deepEqual(several, one);
});

test('a disabled provider opens nothing, and one without an address is rejected', async () => {
  assert.equal(openReranker({ ...settings, enabled: 'false', threads: 1, budgetMs: 50 }).provider, undefined);
  assert.equal(openReranker({ ...settings, provider: 'none', threads: 1, budgetMs: 50 }).provider, undefined);
  assert.throws(() => openReranker({ ...settings, provider: 'http', threads: 1, budgetMs: 50 }), /RERANKING_URL/);
});
