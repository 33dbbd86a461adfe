import assert from 'node:assert/strict';
import { test } from 'node:test';
import { queryOf, resultsOf } from './call-summary.ts';

test('summarises a call by its query, in one short line', () => {
  assert.equal(queryOf({ limit: 5, query: ' two\n\twords ' }), 'two words');
  assert.equal(queryOf({ context_ids: [4, 5, {}] }), '4, 5');
  assert.equal(queryOf({ text: 'x'.repeat(5_000_000) }).length, 201);
  assert.equal(queryOf({ upload_id: 'secret' }), '');
  for (const odd of [undefined, null, 'text', [], { query: {} }]) assert.equal(queryOf(odd), '');
});

test('counts the results if the answer has a list of them', () => {
  assert.equal(resultsOf({ results: [1, 2], total: 9 }), 2);
  assert.equal(resultsOf({ documents: [] }), 0);
  assert.equal(resultsOf({ text: 'x' }), undefined);
  assert.equal(resultsOf(undefined), undefined);
});
