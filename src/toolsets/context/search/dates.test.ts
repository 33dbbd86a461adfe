import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDateRange } from './dates.ts';

const from = (text: string) => parseDateRange(text, undefined).createdFrom;
const to = (text: string) => parseDateRange(undefined, text).createdTo;

test('002 date filtering: reads every form as UTC', () => {
  assert.equal(from('2025-11-29'), '2025-11-29T00:00:00.000Z');
  assert.equal(to('2025-11-29'), '2025-11-29T23:59:59.999Z');
  assert.equal(to('2025-11-29T10:00:00'), '2025-11-29T10:00:00.000Z');
  assert.equal(from('2025-11-29 10:00'), '2025-11-29T10:00:00.000Z');
  assert.equal(from('2025-11-29T10:00:00+02:00'), '2025-11-29T08:00:00.000Z');
  assert.equal(from('2025-11-29T10:00:00-0530'), '2025-11-29T15:30:00.000Z');
  assert.equal(from('2024-02-29'), '2024-02-29T00:00:00.000Z');
});

test('reads basic forms and week dates as Python does', () => {
  assert.equal(from('20261115'), '2026-11-15T00:00:00.000Z');
  assert.equal(to('20261115'), '2026-11-15T23:59:59.999Z');
  assert.equal(from('20261115T101530Z'), '2026-11-15T10:15:30.000Z');
  assert.equal(from('2026-11-15T10'), '2026-11-15T10:00:00.000Z');
  assert.equal(from('2026-11-15T10+02'), '2026-11-15T08:00:00.000Z');
  assert.equal(from('20261115T1015+0200'), '2026-11-15T08:15:00.000Z');
  assert.equal(from('2026-W46-7'), '2026-11-15T00:00:00.000Z');
  assert.equal(to('2026W467'), '2026-11-15T23:59:59.999Z');
  assert.equal(from('2026-W01-1'), '2025-12-29T00:00:00.000Z');
  assert.equal(from('2026-W53-7T10:00'), '2027-01-03T10:00:00.000Z');
  for (const bad of ['2025-W53-1', '2026-W00-1', '2026-W46-8', '2026-W46', '20261315', '2026111', '20261115T1060']) {
    assert.throws(() => from(bad), /Invalid start_date format/, bad);
  }
});

test('rounds fractions of a millisecond into the range', () => {
  assert.equal(from('2025-11-29T10:00:00.000001Z'), '2025-11-29T10:00:00.001Z');
  assert.equal(to('2025-11-29T10:00:00.999999Z'), '2025-11-29T10:00:00.999Z');
});

test('T116: rejects invalid dates', () => {
  for (const bad of [
    '2025-02-30',
    '2023-02-29',
    '+275761-01-01',
    '0000-00-00',
    'now',
    '1700000000',
    '',
    '2025-13-01',
  ]) {
    assert.throws(() => from(bad), /Invalid start_date format/, bad);
  }
  for (const bad of ['2025-01-01T24:00', '2025-01-01T10:60', '2025-01-01T10:00:60', '2025-01-01T10:00:00+25:00']) {
    assert.throws(() => to(bad), /Invalid end_date format/, bad);
  }
});

test('clamps times to four-digit years in any zone', () => {
  assert.equal(to('9999-12-31T23:59:59-12:00'), '9999-12-31T23:59:59.999Z');
  assert.equal(from('0000-01-01T00:00:00+12:00'), '0000-01-01T00:00:00.000Z');
});

test('rejects a start after the end, comparing instants, and names both', () => {
  assert.throws(() => parseDateRange('2025-11-30', '2025-11-29'), /start_date \(2025-11-30\) is after end_date/);
  assert.doesNotThrow(() => parseDateRange('2025-11-29T10:00:00+02:00', '2025-11-29T09:00:00Z'));
});
