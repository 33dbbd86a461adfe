import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FoundHit, mergeByRelevance } from './rank-hits.ts';

const hit = (source: string, uri: string, relevance: number, date: string | null = null): FoundHit => ({
  source,
  uri,
  hash: null,
  range: null,
  title: uri,
  snippet: '',
  date,
  origin: 'user',
  relevance,
  why: `why ${uri}`,
});
const uris = (hits: readonly FoundHit[]) => mergeByRelevance(hits).map(({ uri }) => uri);

test('contract §8: sorts the hits of all sources by relevance, not by rank in a source', () => {
  const found = uris([
    hit('context', 'c1', 0.1),
    hit('context', 'c2', 0.05),
    hit('kb', 'k1', 0.9),
    hit('kb', 'k2', 0.8),
  ]);
  assert.deepEqual(found, ['k1', 'k2', 'c1', 'c2']);
});

test('sorts equally relevant hits by date, newest first and undated last', () => {
  const found = uris([
    hit('web', 'undated', 0.5),
    hit('kb', 'old', 0.5, '2024-01-01T00:00:00.000Z'),
    hit('kb', 'new', 0.5, '2026-01-01T00:00:00.000Z'),
    hit('notes', 'better', 0.6),
  ]);
  assert.deepEqual(found, ['better', 'new', 'old', 'undated']);
});

test('keeps a hit of two sources once, from its best source', () => {
  const [only, ...more] = mergeByRelevance([
    hit('notes', 'same', 0.2),
    hit('web', 'same', 0.7),
    hit('web', 'same', 0.9),
  ]);
  assert.equal(more.length, 0);
  assert.equal(only?.source, 'web');
  assert.equal(only?.relevance, 0.7);
  assert.equal(only?.why, 'why same; notes: why same');
});
