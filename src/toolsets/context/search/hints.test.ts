import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nearestName } from './hints.ts';

test('finds the closest name, ignoring case, or none if all are too different', () => {
  const known = ['project-alpha', 'project-beta', 'Home'];
  assert.equal(nearestName('projct-alpha', known), 'project-alpha');
  assert.equal(nearestName('home', known), 'Home');
  assert.equal(nearestName('beta', known), 'project-beta');
  assert.equal(nearestName('zebra', known), undefined);
  assert.equal(nearestName('x'.repeat(100_000), ['y'.repeat(100_000)]), undefined);
});
