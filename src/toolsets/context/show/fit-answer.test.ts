import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fitEntries } from './fit-answer.ts';

const entry = (id: number, words: number) => ({ id, text_content: 'word '.repeat(words) });

test('without a budget, returns everything and no report', () => {
  assert.deepEqual(fitEntries([entry(1, 5)], undefined), { entries: [entry(1, 5)], report: {} });
});

test('names omitted entries, and truncates the first one with the call that continues it', () => {
  const { entries, report } = fitEntries([entry(1, 50), entry(2, 5000), entry(3, 5)], 300);
  assert.deepEqual(
    entries.map(({ id }) => id),
    [1, 2],
  );
  assert.deepEqual(report.budget?.omitted_ids, [3]);
  const [cut] = report.budget?.cut ?? [];
  assert.ok(cut && report.budget && report.budget.used_tokens <= 300);
  assert.deepEqual([cut.id, cut.total_chars], [2, 25_000]);
  assert.equal(entries[1]?.text_content, entry(2, 5000).text_content.slice(0, cut.returned_chars));
});

test('a budget too small for one entry returns its beginning and says so', () => {
  const long = { ...entry(1, 5000), metadata: 'field '.repeat(200) };
  const { entries, report } = fitEntries([long, entry(2, 5)], 100);
  assert.equal(entries.length, 1);
  assert.ok((entries[0]?.text_content.length ?? 0) > 100 && (entries[0]?.text_content.length ?? 0) < 300);
  assert.match(report.budget?.hint ?? '', /too small/);
  assert.deepEqual([report.budget?.omitted_ids, report.budget?.cut.length], [[2], 1]);
});

test('omits a remainder that is too short to be useful', () => {
  const { entries, report } = fitEntries([entry(1, 80), entry(2, 5000)], 110);
  assert.deepEqual([entries.length, report.budget?.cut, report.budget?.omitted_ids], [1, [], [2]]);
});
