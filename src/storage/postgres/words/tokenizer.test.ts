import assert from 'node:assert/strict';
import { test } from 'node:test';
import { termRowsOf } from './term-rows.ts';
import { createTokenizer } from './tokenizer.ts';

const text = (body: string) => ({ title: 'The Runners', heading: '', body });

test('tokenises long texts on another thread and short ones here, in order', async (context) => {
  const tokenizer = createTokenizer();
  context.after(() => tokenizer.close());
  const chinese = Array.from({ length: 300_000 }, (_, place) =>
    String.fromCodePoint(0x4e00 + ((place * 7919) % 20_000)),
  );
  const long = [
    ...Array.from({ length: 150 }, (_, place) => text(`ran ${place}`)),
    text(chinese.join('')),
    text('last'),
  ];
  const [before, here] = [process.cpuUsage(), process.threadCpuUsage()];
  const rows = await Promise.all(tokenizer.tokenize(long));
  const used = { all: process.cpuUsage(before).user, here: process.threadCpuUsage(here).user };
  assert.ok(used.here < used.all / 2, JSON.stringify(used));
  assert.deepEqual(
    rows.map(({ tsvectors }) => tsvectors.length),
    [100, 50, 1, 1],
  );
  assert.deepEqual(
    rows.flatMap(({ tsvectors }) => tsvectors),
    termRowsOf(long).tsvectors,
  );
  const short = long.slice(0, 120);
  const again = await Promise.all(tokenizer.tokenize(short));
  assert.deepEqual(again, [termRowsOf(short.slice(0, 100)), termRowsOf(short.slice(100))]);
  assert.deepEqual(await Promise.all(tokenizer.tokenize([])), []);
});
