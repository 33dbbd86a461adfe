import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readExpiry } from './token.ts';

const now = new Date('2026-11-15T10:00:00.000Z');

test('accepts an RFC 3339 time or a time span', () => {
  assert.equal(readExpiry('30d', now), '2026-12-15T10:00:00.000Z');
  assert.equal(readExpiry('12h', now), '2026-11-15T22:00:00.000Z');
  assert.equal(readExpiry('2w', now), '2026-11-29T10:00:00.000Z');
  assert.equal(readExpiry('2027-01-31T02:00:00+02:00', now), '2027-01-31T00:00:00.000Z');
  assert.equal(readExpiry('2027-01-31T00:00:00.5Z', now), '2027-01-31T00:00:00.500Z');
});

test('rejects other forms of an expiry', () => {
  const wrong = ['', '30', 'd', '0d', '-1d', '1.5d', '30 d', '100000d', '30D', 'tomorrow', '2027-01-31'];
  const times = ['2027-01-31T00:00:00', '2027-13-01T00:00:00Z', '2027-01-32T00:00:00Z', ' 2027-01-31T00:00:00Z'];
  for (const text of [...wrong, ...times]) assert.equal(readExpiry(text, now), undefined, text);
});
