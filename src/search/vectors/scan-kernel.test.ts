import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { assembleWat } from '../../../scripts/assemble-wat.ts';
import { quantise } from './quantise.ts';
import { createScan } from './scan-kernel.ts';
import { scanKernelBase64 } from './scan-kernel-bytes.ts';
import { createSegment, segmentLayout } from './segment.ts';
import { randomNumbers, randomUnitVector } from './test-vectors.ts';
import { createTopRows } from './top-rows.ts';

test('the embedded bytes are the assembled source', () => {
  const source = readFileSync(new URL('./scan-kernel.wat', import.meta.url), 'utf8');
  assert.equal(scanKernelBase64, Buffer.from(assembleWat(source)).toString('base64'));
});

test('the assembler refuses what it does not know', () => {
  const around = (body: string) => `(module (func (export "f") (result i32) ${body}))`;
  assert.throws(() => assembleWat(around('i32.rotl')), /unknown instruction/);
  assert.throws(() => assembleWat(around('local.get $missing')), /unknown name/);
  assert.throws(() => assembleWat(around('block $open')), /not closed/);
});

for (const dimensions of [1, 31, 32, 100, 384, 1024]) {
  test(`the scan equals a plain dot product of the codes (${dimensions} dimensions)`, () => {
    const random = randomNumbers(dimensions);
    const layout = segmentLayout(dimensions, 8192);
    const segment = createSegment(layout);
    const rows = Array.from({ length: 4500 }, () => quantise(randomUnitVector(dimensions, random)));
    for (const [row, { codes, scale }] of rows.entries()) segment.writeRow(row, codes, scale);
    const query = quantise(randomUnitVector(dimensions, random));
    new Int16Array(segment.memory.buffer, layout.query, layout.stride).set(query.codes);
    const mask = new Int32Array(segment.memory.buffer, layout.mask, layout.rowsMax / 32);
    const wanted = rows.map((_, row) => row).filter((row) => row % 3 === 0 || row === 31 || row === 4499);
    for (const row of wanted) mask[row >>> 5] = (mask[row >>> 5] ?? 0) | (1 << (row & 31));

    const best = createTopRows(rows.length);
    createScan(segment.memory, layout)(rows.length, query.scale, best, 0);

    const scanned = new Map(best.sorted().map(({ row, score }) => [row, score]));
    assert.deepEqual(
      [...scanned.keys()].sort((left, right) => left - right),
      wanted,
    );
    for (const row of wanted) {
      const codes = rows[row]?.codes ?? new Int8Array();
      const sum = codes.reduce((total, code, column) => total + code * (query.codes[column] ?? 0), 0);
      const expected = Math.fround(sum * Math.fround(rows[row]?.scale ?? 0)) * query.scale;
      assert.ok(Math.abs((scanned.get(row) ?? 0) - expected) < 1e-6, `row ${row}`);
    }
  });
}

test('the largest codes do not overflow', () => {
  const layout = segmentLayout(4096, 32);
  const segment = createSegment(layout);
  const extreme = new Int8Array(4096).fill(-127);
  segment.writeRow(0, extreme, 1);
  new Int16Array(segment.memory.buffer, layout.query, layout.stride).set(extreme);
  new Int32Array(segment.memory.buffer, layout.mask, 1)[0] = 1;
  const best = createTopRows(1);
  createScan(segment.memory, layout)(1, 1, best, 0);
  assert.deepEqual(best.sorted(), [{ row: 0, score: 127 * 127 * 4096 }]);
});
