import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anyCharacter } from '../../test/support/any-character.ts';
import { fittingUnits, wireBytes } from './wire-bytes.ts';

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

test('counts the bytes of strings, for one copy and for two', () => {
  const anyText = fc.string({ unit: anyCharacter });
  fc.assert(
    fc.property(anyText, (text) => {
      assert.equal(wireBytes(text, 1), bytesOf(text));
      // Without the outer quotes.
      assert.equal(wireBytes(text, 2), bytesOf(text) + bytesOf(JSON.stringify(text)) - 2);
    }),
  );
  assert.equal(wireBytes('\ud800"\\\n\u0001é€😀', 1), bytesOf('\ud800"\\\n\u0001é€😀'));
});

test('never underestimates a value and overestimates little', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const [counted, real] = [wireBytes(value, 1), bytesOf(value)];
      assert.ok(counted >= real, `${counted} < ${real}`);
      const nodes = JSON.stringify(value).split(/[,:[\]{}]/).length;
      assert.ok(counted - real <= 3 * nodes);
    }),
  );
});

test('stops counting at the bound', () => {
  assert.ok(wireBytes('x'.repeat(1_000_000), 1, 10) < 20);
});

test('truncates text at a byte limit, between characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), fc.nat(60), (text, bytesMax) => {
      const units = fittingUnits(text, 1, bytesMax);
      const head = text.slice(0, units);
      if (units > 0) assert.ok(bytesOf(head) <= bytesMax);
      if (units < text.length) {
        const next = String.fromCodePoint(text.codePointAt(units) ?? 0);
        assert.ok(bytesOf(head + next) > bytesMax);
      }
    }),
  );
});
