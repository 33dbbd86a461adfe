import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { assembleKernel, withoutRelaxed } from '../../../scripts/assemble-kernel.ts';
import { randomNumbers, randomUnitVector } from '../../../test/support/test-vectors.ts';
import { createIdSet } from '../../storage/id-set.ts';
import { quantise, quantiseQuery } from '../../storage/quantise.ts';
import { createKernel, plainModule } from './scan-kernel.ts';
import { plainKernelBase64, scanKernelBase64 } from './scan-kernel-bytes.ts';
import { createScanner } from './scanner.ts';
import { createSegment, type Segment } from './segment.ts';
import { blockRows, type SegmentLayout, segmentLayout } from './segment-layout.ts';

test('the embedded bytes are the assembled source', async () => {
  const source = readFileSync(new URL('./scan-kernel.wat', import.meta.url), 'utf8');
  assert.equal(scanKernelBase64, Buffer.from(await assembleKernel(source)).toString('base64'));
  assert.equal(plainKernelBase64, Buffer.from(await assembleKernel(withoutRelaxed(source))).toString('base64'));
});

const kernels = [
  { name: 'relaxed', make: (layout: SegmentLayout, segment: Segment) => createKernel(segment.memory, layout, 1) },
  {
    name: 'plain',
    make: (layout: SegmentLayout, segment: Segment) => createKernel(segment.memory, layout, 2, plainModule()),
  },
];

for (const { name, make } of kernels) {
  for (const dimensions of [1, 15, 16, 31, 100, 384, 1024]) {
    test(`the ${name} scan equals a plain dot product of the codes (${dimensions} dimensions)`, () => {
      const random = randomNumbers(dimensions);
      const layout = segmentLayout(dimensions, 2 * blockRows);
      const segment = createSegment(layout, dimensions);
      const rows = Array.from({ length: blockRows + 404 }, () => quantise(randomUnitVector(dimensions, random)));
      for (const [row, { codes, scale }] of rows.entries())
        segment.writeRows(row, { codes, scales: [scale], groups: [row] });
      const query = quantiseQuery(randomUnitVector(dimensions, random));
      // Words of the mask with all, several, one and no bits; the last word is not full.
      const isAllowed = (row: number) => row < 64 || (row < 1_000 && row % 3 === 0) || row % 97 === 0 || row > 4_440;
      const wanted = rows.map((_, row) => row).filter(isAllowed);
      const allowed = createIdSet(wanted).pages;

      const scanner = createScanner(layout);
      scanner.add(segment.memory, make(layout, segment));
      let block = 0;
      const task = { query: query.codes, limit: rows.length, rowsUsed: rows.length, allowed };
      const found = scanner.scan(task, () => block++);

      assert.equal(found.blocks, 2);
      assert.deepEqual(
        [...found.rows].sort((left, right) => left - right),
        wanted,
      );
      for (const [place, row] of found.rows.entries()) {
        const codes = rows[row]?.codes ?? new Int8Array();
        const sum = codes.reduce((total, code, column) => total + code * ((query.codes[column] ?? 0) - 64), 0);
        assert.equal(found.scores[place], Math.fround(sum * Math.fround(rows[row]?.scale ?? 0)), `row ${row}`);
        assert.ok((found.scores[place] ?? 0) <= (found.scores[place - 1] ?? Number.POSITIVE_INFINITY));
      }

      block = 0;
      const best = scanner.scan({ ...task, limit: 30 }, () => block++);
      assert.deepEqual(best.rows, found.rows.slice(0, 30));
    });
  }

  test(`the largest codes do not overflow in the ${name} scan`, () => {
    const layout = segmentLayout(4096, 32);
    const segment = createSegment(layout);
    for (const [row, code] of [127, -127].entries()) {
      segment.writeRows(row, { codes: new Int8Array(4096).fill(code), scales: [1], groups: [0] });
    }
    const scanner = createScanner(layout);
    scanner.add(segment.memory, make(layout, segment));
    for (const code of [1, 127]) {
      let block = 0;
      const query = new Uint8Array(4096).fill(code);
      const { rows, scores } = scanner.scan({ query, limit: 2, rowsUsed: 2, allowed: undefined }, () => block++);
      assert.deepEqual([...rows], code === 127 ? [0, 1] : [1, 0]);
      assert.deepEqual([...scores], [127 * 63 * 4096, -127 * 63 * 4096]);
    }
  });
}
