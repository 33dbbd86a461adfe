import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  duckDuckGoChallenge,
  duckDuckGoPage,
  gatewayChallenge,
  usualResults,
} from '../../../../test/fakes/search-providers/search-pages.ts';
import { readResultsPage } from './duckduckgo.ts';

const address = new URL('https://html.duckduckgo.com/html/?q=python');

test('returns the target URLs of results, without advertisements', () => {
  const { results } = readResultsPage(duckDuckGoPage(usualResults), address);
  assert.deepEqual(results, usualResults);
});

test('recognizes an empty results page, which is not a challenge', () => {
  const page = readResultsPage(duckDuckGoPage([]), address);
  assert.deepEqual(page, { results: [], isChallenge: false, isResultsPage: true });
});

test('recognizes challenge pages, which are not empty results', () => {
  for (const html of [duckDuckGoChallenge, gatewayChallenge]) {
    const page = readResultsPage(html, address);
    assert.equal(page.isChallenge, true);
    assert.equal(page.isResultsPage, false);
  }
});

test('any other page is neither results nor a challenge', () => {
  for (const html of ['', 'Bad gateway', '<html><body><h1>It works!</h1></body></html>']) {
    const page = readResultsPage(html, address);
    assert.deepEqual(page, { results: [], isChallenge: false, isResultsPage: false });
  }
});

test('reads the lite page', () => {
  const html = `<table><tr><td><a rel="nofollow" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fa.example%2F&rut=1" class='result-link'>A</a></td></tr>
    <tr><td class='result-snippet'>About <b>a</b>.</td></tr></table>`;
  const { results } = readResultsPage(html, address);
  assert.deepEqual(results, [{ title: 'A', url: 'https://a.example/', snippet: 'About a.' }]);
});

test('T085: reads a deeply nested page without a stack overflow', () => {
  const { results } = readResultsPage('<div>'.repeat(90_000), address);
  assert.deepEqual(results, []);
});
