import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { assembleKernel } from '../../../scripts/assemble-kernel.ts';
import { randomNumbers, randomUnitVector } from '../../../test/support/test-vectors.ts';
import { quantise } from '../../storage/vectors/quantise.ts';
import { scanKernelBase64 } from './scan-kernel-bytes.ts';
import { scanRows } from './scanner.ts';
import { blockRows, createMemory, openSegment, segmentLayout } from './segment.ts';

test('the embedded bytes match the assembled source', async () => {
  const source = readFileSync(new URL('./scan-kernel.wat', import.meta.url), 'utf8');
  assert.equal(scanKernelBase64, Buffer.from(await assembleKernel(source)).toString('base64'));
});

for (const dimensions of [1, 15, 16, 31, 100, 384, 1024]) {
  test(`the scan equals a plain dot product of the codes (${dimensions} dimensions)`, () => {
    const random = randomNumbers(dimensions);
    const segment = newSegment(dimensions);
    const rows = Array.from({ length: blockRows + 404 }, () => quantise(randomUnitVector(dimensions, random)));
    for (const [row, { codes, scale }] of rows.entries())
      segment.writeRows(row, { codes, scales: [scale], groups: [row] });
    const query = quantise(randomUnitVector(dimensions, random)).codes;
    // Mask words with all, several, one and no bits; the last word is partial.
    const isAllowed = (row: number) => row < 64 || (row < 1_000 && row % 3 === 0) || row % 97 === 0 || row > 4_440;
    const allowedRows = rows.map((_, row) => row).filter(isAllowed);
    const scan = (limit: number) => scanRows([segment], { query, limit, rowsUsed: rows.length, allowed: allowedRows });
    const best = scan(rows.length);
    assert.deepEqual(
      best.map(({ row }) => row).sort((left, right) => left - right),
      allowedRows,
    );
    for (const [place, { row, score }] of best.entries()) {
      const codes = rows[row]?.codes ?? new Int8Array();
      const sum = codes.reduce((total, code, column) => total + code * (query[column] ?? 0), 0);
      assert.equal(score, Math.fround(sum * Math.fround(rows[row]?.scale ?? 0)), `row ${row}`);
      assert.ok(score <= (best[place - 1]?.score ?? Number.POSITIVE_INFINITY));
    }
    for (const limit of [0, 1, 30]) assert.deepEqual(scan(limit), best.slice(0, limit));
  });
}

test('keeps the lower rows among equal scores', () => {
  const segment = newSegment(16);
  const codes = new Int8Array(16).fill(1);
  for (let row = 0; row < 1000; row += 1) segment.writeRows(row, { codes, scales: [1], groups: [row] });
  const best = scanRows([segment], { query: codes, limit: 5, rowsUsed: 1000, allowed: undefined });
  assert.deepEqual(
    best,
    [0, 1, 2, 3, 4].map((row) => ({ row, score: 16 })),
  );
});

test('the largest codes do not overflow', () => {
  const segment = newSegment(4096);
  for (const [row, code] of [127, -127].entries()) {
    segment.writeRows(row, { codes: new Int8Array(4096).fill(code), scales: [1], groups: [0] });
  }
  for (const code of [-127, 127]) {
    const query = new Int8Array(4096).fill(code);
    const best = scanRows([segment], { query, limit: 2, rowsUsed: 2, allowed: undefined });
    const score = 127 * 127 * 4096;
    const [first, last] = code > 0 ? [0, 1] : [1, 0];
    assert.deepEqual(best, [
      { row: first, score },
      { row: last, score: -score },
    ]);
  }
});

function newSegment(dimensions: number) {
  const layout = segmentLayout(dimensions);
  return openSegment(createMemory(layout), layout, 0);
}
