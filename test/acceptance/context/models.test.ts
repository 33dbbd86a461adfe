import assert from 'node:assert/strict';
import { before, describe } from 'node:test';
import { withModels } from '../../support/child-program.ts';
import { verifies } from '../../support/verifies.ts';
import { type ContextServer, onSqlite } from './context-fixture.ts';
import { relevanceOfHits } from './relevance.ts';
import { tablesOf002 } from './tables.ts';

// These suites share a program, because loading the models takes long. Each uses its own threads.
onSqlite(
  'with the bundled models',
  (server) => {
    describe('search tools of 002', () => modelSearches(server));
    describe('the tables of 002', () => tablesOf002(server));
    describe('the relevance of hits among unlike notes', () => relevanceOfHits(server));
  },
  withModels,
);

function modelSearches(server: ContextServer): void {
  const { store } = server;
  const call = (tool: string, input: Record<string, unknown>) =>
    server.callEmbedded(tool, { ...input, thread_id: 'meaning' });
  let database = 0;

  before(async () => {
    database = await store('meaning', 'We chose PostgreSQL as the database for billing because of transactions.');
    await store('meaning', 'My cat Miso sleeps on the windowsill all day.');
    await store('meaning', 'A photograph of the garden gate.');
    await store('meaning', 'The deployment pipeline builds, tests and publishes every change of the code.');
  });

  verifies(
    ['002 semantic_search_context/query', '002 semantic_search_context/returns', '002 semantic_search_context/page'],
    'finds by meaning without shared words, most relevant first, in pages',
    async () => {
      const query = 'Which data store holds our invoices?';
      const answer = await call('semantic_search_context', { query, explain: true });
      assert.equal(answer.results[0]?.id, database);
      assert.deepEqual([answer['query'], answer['count']], [query, answer.results.length]);
      assert.match(String(answer['model']), /carrel-embedding-1/);
      const order = answer.results.map(({ scores }) => Number(scores['rerank_score']));
      assert.deepEqual(
        order,
        [...order].sort((a, b) => b - a),
      );
      assert.ok(answer.results.every(({ scores }) => scores['semantic_rank'] === null));
      assert.deepEqual(Object.keys(answer.results[0]?.scores ?? {}), [
        'semantic_distance',
        'rerank_score',
        'semantic_rank',
      ]);
      const all = answer.results.map(({ id }) => id);
      const paged = [
        ...(await call('semantic_search_context', { query, limit: 2 })).results,
        ...(await call('semantic_search_context', { query, limit: 3, offset: 2 })).results,
      ].map(({ id }) => id);
      assert.deepEqual(paged.slice(0, all.length), all);
    },
  );

  verifies(['002 structure/scores'], 'returns the scores of the reranking model, and orders hits by them', async () => {
    const [word] = (await call('fts_search_context', { query: 'cat', explain: true })).results;
    assert.deepEqual(Object.keys(word?.scores ?? {}), ['fts_score', 'rerank_score', 'fts_rank']);
    const { results } = await call('hybrid_search_context', { query: 'PostgreSQL billing database', explain: true });
    assert.equal(results[0]?.id, database);
    const order = results.map(({ scores }) => Number(scores['rerank_score']));
    assert.ok(order.every((score) => score >= 0 && score <= 1) && Number(order[0]) > 0);
    assert.deepEqual(
      order,
      [...order].sort((a, b) => b - a),
    );
  });
}
