import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SourceHit } from '../../tools/search-source.ts';
import { fuseRanks } from './fuse-ranks.ts';

const hit = (uri: string, score = 0): SourceHit => ({
  uri,
  title: uri,
  snippet: '',
  date: null,
  origin: 'user',
  score,
  why: `why ${uri}`,
});

test('lists are merged by rank: scores of different sources do not compare', () => {
  const fused = fuseRanks([
    { source: 'notes', hits: [hit('n1', 0.1), hit('n2', 0.01)] },
    { source: 'web', hits: [hit('w1', 900), hit('w2', 800)] },
  ]);
  assert.deepEqual(
    fused.map(({ uri }) => uri),
    ['n1', 'w1', 'n2', 'w2'],
  );
});

test('what two sources find comes first, once, and says so', () => {
  const fused = fuseRanks([
    { source: 'notes', hits: [hit('n1'), hit('same')] },
    { source: 'web', hits: [hit('w1'), hit('same')] },
  ]);
  assert.equal(fused[0]?.uri, 'same');
  assert.equal(fused.length, 3);
  assert.equal(fused[0]?.why, 'why same; web: why same');
});

test('a source that repeats itself gains nothing', () => {
  const fused = fuseRanks([
    { source: 'notes', hits: [hit('a'), hit('b'), hit('b'), hit('b')] },
    { source: 'web', hits: [hit('c')] },
  ]);
  assert.deepEqual(
    fused.map(({ uri }) => uri),
    ['a', 'c', 'b'],
  );
});
