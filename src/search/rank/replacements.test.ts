import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { findReplacements, newerFirst, type Stated } from './replacements.ts';

interface Case {
  readonly older: string;
  readonly newer: string;
}

const file = new URL('../../../test/support/replaced-statements.json', import.meta.url);
const { pairs, traps }: Record<'pairs' | 'traps', Case[]> = JSON.parse(readFileSync(file, 'utf8'));

const at = (id: number, text: string, replaces?: number): Stated => ({
  id,
  text,
  replaces,
  time: `2026-01-01T00:00:00.${String(id).padStart(3, '0')}Z`,
});
const isReplaced = ({ older, newer }: Case) => findReplacements([at(1, older), at(2, newer)]).replacedBy.get(1) === 2;

test('recognises nine of ten replacements and almost no false ones', () => {
  const missed = pairs.filter((each) => !isReplaced(each));
  const wrong = traps.filter(isReplaced);
  assert.ok(missed.length <= pairs.length / 10, JSON.stringify(missed, null, 1));
  assert.ok(wrong.length <= traps.length / 20, JSON.stringify(wrong, null, 1));
});

test('mentioning another subject does not replace it', () => {
  const newer = `Decided with the warden: the marsh path stays closed while the storks nest and opens again on the first of August.
    Signs are at both ends of the path.`;
  for (const older of ['The stork has two young on the nest this year.', 'Stork nest: three eggs.']) {
    assert.equal(isReplaced({ older, newer }), false, older);
  }
});

test('time decides which text replaces, and a long text replaces only if it says so', () => {
  const [older = '', newer = ''] = [pairs[0]?.older, pairs[0]?.newer];
  assert.deepEqual([...findReplacements([at(1, newer), at(2, older)]).replacedBy], []);
  assert.deepEqual([...findReplacements([at(1, older), at(2, newer + ' word'.repeat(300))]).replacedBy], []);
  assert.deepEqual([...findReplacements([at(1, older), at(2, 'Make it more.', 1)]).replacedBy], [[1, 2]]);
});

test('the last of a chain is current, and a cycle ends', () => {
  const chain = findReplacements([at(1, 'First.'), at(2, 'Second.', 1), at(3, 'Third.', 2)]);
  assert.deepEqual(Object.fromEntries(chain.replacedBy), { 1: 3, 2: 3 });
  assert.deepEqual(Object.fromEntries(chain.replaces), { 2: 1, 3: 2 });
  const circle = findReplacements([at(1, 'First.', 2), at(2, 'Second.', 1)]);
  assert.deepEqual(Object.fromEntries(circle.replacedBy), { 1: 2, 2: 1 });
  assert.deepEqual(
    newerFirst([1, 2], Number, circle.newer, (newer) => newer),
    [2, 1],
  );
});

test('a newer hit comes right before the older, and those between move down', () => {
  const { newer } = findReplacements([
    at(1, 'The launch is on 6 May.'),
    at(2, 'Lunch is at noon.'),
    at(3, 'The launch is on 20 May.'),
    at(4, 'The launch was moved to 3 June.'),
  ]);
  assert.deepEqual(
    newerFirst([2, 1, 3, 4], Number, newer, (hit) => hit),
    [2, 4, 1, 3],
    'a statement with another value stays in place',
  );
  assert.deepEqual(
    newerFirst([4, 3, 2, 1], Number, newer, (hit) => hit),
    [4, 3, 2, 1],
  );
  const replacements = findReplacements([at(1, 'The launch is on 6 May.'), at(3, 'The launch is on 20 May.')]);
  assert.deepEqual([...replacements.replacedBy], [], 'the texts do not say that anything changed');
});

test('inserts a missing newer hit right before the one it replaces', () => {
  const { newer } = findReplacements([at(1, 'First.'), at(9, 'Second.', 1)]);
  assert.deepEqual(
    newerFirst([5, 1], Number, newer, (hit, _, id) => hit ?? id),
    [5, 9, 1],
  );
  assert.deepEqual(
    newerFirst([5, 1], Number, newer, (hit) => hit),
    [5, 1],
  );
});
