import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadPages, scorePage } from '../../bench/extraction/pages.ts';

test('pages to text: mean F1 of words is above Readability and above tag stripping, on both halves', async () => {
  const pages = (await loadPages()).map(scorePage);
  assert.ok(pages.length >= 40);
  for (const isHeldOut of [false, true]) {
    const half = pages.filter((page) => page.isHeldOut === isHeldOut);
    const mean = (tool: string) => half.reduce((sum, { scores }) => sum + (scores[tool] ?? 0), 0) / half.length;
    const [ours, readability, stripping] = [mean('carrel'), mean('readability'), mean('stripping')];
    assert.ok(ours > readability && ours > stripping, `${ours} ${readability} ${stripping}`);
  }
});
