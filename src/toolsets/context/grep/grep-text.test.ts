import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wireBytes } from '../../../base/wire-bytes.ts';
import { type GrepPattern, grepText, type LineMatch, type LinePosition } from './grep-text.ts';

const pattern: GrepPattern = { pattern: 'needle', isRegex: false, caseSensitive: true, contextLines: 2 };

test('a search that reaches a limit continues at the next match, without gaps or duplicates', () => {
  const text = Array.from({ length: 40 }, (_, line) => `line ${line} needle ${'x'.repeat(line * 40)} needle`).join(
    '\n',
  );
  const all = grepText({ text, from: { line: 1, skip: 0 }, matchesMax: 1000, bytesMax: 1e9 }, pattern);
  assert.equal(all.matches.length, 80);
  assert.equal(all.next, undefined);
  for (const bounds of [
    { matchesMax: 7, bytesMax: 1e9 },
    { matchesMax: 1000, bytesMax: 30_000 },
  ]) {
    const found: LineMatch[] = [];
    for (let from: LinePosition | undefined = { line: 1, skip: 0 }; from !== undefined; ) {
      const part = grepText({ text, from, ...bounds }, pattern);
      assert.ok(part.matches.length > 0 && part.matches.length <= bounds.matchesMax);
      assert.ok(part.matches.reduce((sum, match) => sum + wireBytes(match, 2), 0) <= bounds.bytesMax);
      found.push(...part.matches);
      from = part.next;
    }
    assert.deepEqual(found, all.matches);
  }
});
