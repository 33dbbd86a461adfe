import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { nearVector, randomNumbers, randomUnitVector } from '../../../test/support/test-vectors.ts';
import { isCarrelError } from '../../base/errors.ts';
import { dotProduct, quantise } from '../../storage/vectors/quantise.ts';
import { createVectorIndex, type VectorSearchOptions } from './vector-index.ts';

const dimensions = 384;

/** As in a search: the stored vectors score what the scan finds. */
function createIndex(stored: Map<number, Float32Array>, vectorsMax = 200_000, length = dimensions) {
  const index = createVectorIndex({ dimensions: length, vectorsMax });
  return {
    ...index,
    get size() {
      return index.size;
    },
    get bytes() {
      return index.bytes;
    },
    set(id: number, vector: Float32Array, group = 0) {
      const { codes, scale } = quantise(vector);
      index.delete(id);
      index.add({ ids: [id], groups: Float64Array.of(group), codes, scales: Float32Array.of(scale) });
    },
    async search(query: Float32Array, { limit, ...options }: VectorSearchOptions) {
      const found = await index.candidates(query, { limit: Math.max(50, limit * 2), ...options });
      return found
        .flatMap(({ id }) => {
          const vector = stored.get(id);
          return vector === undefined ? [] : [{ id, score: dotProduct(query, vector) }];
        })
        .sort((left, right) => right.score - left.score || left.id - right.id)
        .slice(0, limit);
    },
  };
}

function exact(stored: Map<number, Float32Array>, query: Float32Array, limit: number): number[] {
  return [...stored]
    .map(([id, vector]) => ({ id, score: dotProduct(query, vector) }))
    .sort((left, right) => right.score - left.score || left.id - right.id)
    .slice(0, limit)
    .map(({ id }) => id);
}

describe('an index over two segments', () => {
  const random = randomNumbers(7);
  const centres = Array.from({ length: 400 }, () => randomUnitVector(dimensions, random));
  const stored = new Map<number, Float32Array>();
  const index = createIndex(stored);

  before(() => {
    for (let id = 0; id < 70_000; id++) {
      const centre = centres[id % centres.length] ?? new Float32Array(dimensions);
      // Most of the second segment copies a few vectors: building 70,000 would take long.
      const vector = id < 12_000 || id >= 69_000 ? nearVector(centre, 0.6, random) : centre;
      stored.set(id, vector);
      index.set(id, vector, id);
    }
  });
  after(() => index.close());

  test('recall@10 is at least 0.99 of an exact search', async () => {
    const sample = new Map([...stored].filter(([id]) => id < 12_000 || id >= 69_000));
    const groups = [...sample.keys()];
    let found = 0;
    const queries = 40;
    for (let number = 0; number < queries; number++) {
      const query = nearVector(centres[number] ?? new Float32Array(dimensions), 0.6, random);
      const matches = await index.search(query, { limit: 10, groups });
      const expected = new Set(exact(sample, query, 10));
      found += matches.filter(({ id }) => expected.has(id)).length;
    }
    assert.ok(found / (queries * 10) >= 0.99, `recall@10 ${found / (queries * 10)}`);
  });

  test('finds a vector in the second segment', async () => {
    const expected = stored.get(69_500) ?? new Float32Array(dimensions);
    const [first] = await index.search(expected, { limit: 1 });
    assert.equal(first?.id, 69_500);
    assert.ok(Math.abs((first?.score ?? 0) - 1) < 1e-5);
  });

  test('a filter still gives as many results as requested, however rare they are', async () => {
    const query = stored.get(5) ?? new Float32Array(dimensions);
    const far = [11, 4_012, 69_913];
    const matches = await index.search(query, { limit: 10, groups: far });
    assert.deepEqual(
      matches.map(({ id }) => id).toSorted((a, b) => a - b),
      far,
    );
    const every = Array.from({ length: 7_000 }, (_, place) => 10 * place + 3);
    const grouped = await index.search(query, { limit: 10, groups: every });
    assert.equal(grouped.length, 10);
    assert.ok(grouped.every(({ id }) => id % 10 === 3));
    assert.deepEqual(await index.search(query, { limit: 10, groups: [70_000] }), []);
  });

  test('ties are ordered by id, on every page', async () => {
    const query = centres[1] ?? new Float32Array(dimensions);
    const groups = [40_401, 12_001, 20_001, 60_001];
    const matches = await index.search(query, { limit: 4, groups });
    assert.deepEqual(
      matches.map(({ id }) => id),
      [12_001, 20_001, 40_401, 60_001],
    );
    const first = await index.search(query, { limit: 2, groups });
    assert.deepEqual(first, matches.slice(0, 2));
  });
});

test('separates vectors that are close together and have one large component', async () => {
  const random = randomNumbers(17);
  // Like a model's: all share a direction, so that cosines exceed 0.7, and one component has a third of the length.
  const shared = randomUnitVector(dimensions, random);
  shared[7] = 0.6;
  const centres = Array.from({ length: 50 }, () => nearVector(shared, 0.5, random));
  const near = (number: number) => nearVector(centres[number % 50] ?? shared, 0.2, random);
  const stored = new Map(Array.from({ length: 9_000 }, (_, id) => [id, near(id)]));
  const index = createIndex(stored);
  for (const [id, vector] of stored) index.set(id, vector);
  let found = 0;
  const queries = 40;
  for (let number = 0; number < queries; number++) {
    const query = near(number);
    const expected = new Set(exact(stored, query, 10));
    found += (await index.search(query, { limit: 10 })).filter(({ id }) => expected.has(id)).length;
  }
  await index.close();
  assert.ok(found / (queries * 10) >= 0.99, `recall@10 ${found / (queries * 10)}`);
});

test('a search sees every earlier write', async () => {
  const random = randomNumbers(1);
  const [first, second] = [randomUnitVector(dimensions, random), randomUnitVector(dimensions, random)];
  const stored = new Map([[1, first]]);
  const index = createIndex(stored);
  assert.deepEqual(await index.search(first, { limit: 3 }), []);
  index.set(1, first);
  assert.deepEqual(
    (await index.search(first, { limit: 3 })).map(({ id }) => id),
    [1],
  );
  stored.set(2, second);
  index.set(2, second);
  assert.deepEqual(
    (await index.search(second, { limit: 3 })).map(({ id }) => id),
    [2, 1],
  );
  stored.set(1, second);
  index.set(1, second);
  assert.deepEqual(
    (await index.search(second, { limit: 3 })).map(({ id }) => id),
    [1, 2],
  );
  assert.equal(index.delete(1), true);
  assert.equal(index.delete(1), false);
  assert.deepEqual(
    (await index.search(second, { limit: 3 })).map(({ id }) => id),
    [2],
  );
  stored.set(9, first);
  index.set(9, first);
  assert.deepEqual(
    (await index.search(first, { limit: 1 })).map(({ id }) => id),
    [9],
  );
  assert.equal(index.size, 2);
  await index.close();
});

test('bounds the memory', async () => {
  const vector = randomUnitVector(dimensions, randomNumbers(3));
  const index = createIndex(new Map(), 1);
  index.set(1, vector);
  assert.throws(
    () => index.set(2, vector),
    (error) => isCarrelError(error) && error.code === 'unavailable',
  );
  index.set(1, vector);
  assert.ok(index.bytes < 26_500_000);
});

test('an index can be searched again after close', async () => {
  const vector = randomUnitVector(dimensions, randomNumbers(3));
  const index = createIndex(new Map([[1, vector]]));
  index.set(1, vector);
  // Enough to use the scan thread.
  const ids = Array.from({ length: 20_000 }, (_, place) => place + 2);
  index.add({
    ids,
    groups: Float64Array.from(ids),
    codes: new Int8Array(ids.length * dimensions),
    scales: new Float32Array(ids.length),
  });
  const interrupted = index.search(vector, { limit: 1 });
  await Promise.all([index.close(), assert.rejects(interrupted, (error) => isCarrelError(error))]);
  assert.equal((await index.search(vector, { limit: 1 })).length, 1);
  await index.close();
});

test('adding many vectors at once equals adding them one by one, whichever rows are free', async () => {
  const random = randomNumbers(5);
  const vectors = Array.from({ length: 300 }, () => randomUnitVector(40, random));
  const stored = new Map(vectors.map((vector, id) => [id, vector]));
  const index = createIndex(stored, 301, 40);
  for (const id of [7, 100, 101, 299]) index.set(id, vectors[id] ?? new Float32Array(40), id);
  index.delete(100);
  const ids = vectors.map((_, id) => id);
  const quantised = vectors.map((vector) => quantise(vector));
  index.add({
    ids,
    groups: Float64Array.from(ids, (id) => id % 50),
    codes: Int8Array.from(quantised.flatMap(({ codes }) => [...codes])),
    scales: Float32Array.from(quantised, ({ scale }) => scale),
  });
  assert.equal(index.size, 300);
  for (const [id, vector] of vectors.entries()) {
    assert.equal((await index.search(vector, { limit: 1 }))[0]?.id, id);
  }
  // Existing vectors kept their group.
  assert.deepEqual(index.idsOf([7]).toSorted(), [107, 157, 207, 257, 57, 7].toSorted());
  index.delete(157);
  assert.deepEqual(index.idsOf([7, 299]).toSorted(), [107, 207, 257, 299, 57, 7].toSorted());
  assert.deepEqual(index.idsOf([1000]), []);
});
