import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isMedia, normaliseUrl, numberedPattern } from './address.ts';
import { createScope } from './links.ts';

test('normalises an address: no fragment, tracking or session id', () => {
  const same: [string, string | undefined][] = [
    ['https://Example.org:443/a?b=1&utm_source=x&fbclid=2#part', 'https://example.org/a?b=1'],
    ['https://example.org/a;jsessionid=12AB/b?PHPSESSID=9', 'https://example.org/a/b'],
    ['https://example.org/(S(lit3py55t21z5v55vlm25s55))/page.aspx', 'https://example.org/page.aspx'],
    ['https://example.org/a?q=a%20b&empty=', 'https://example.org/a?q=a%20b&empty='],
    ['https://user:secret@example.org/', undefined],
    ['mailto:a@example.org', undefined],
    [`https://example.org/${'a'.repeat(1000)}`, undefined],
  ];
  for (const [written, expected] of same) assert.equal(normaliseUrl(written), expected);
  assert.ok(isMedia('https://example.org/logo.PNG?v=2') && !isMedia('https://example.org/report.pdf'));
});

test('recognises the pattern of numbered pages, but not of articles with a number', () => {
  const months = ['https://example.org/cal?month=2031-07', 'https://example.org/cal?month=2031-08'].map(
    numberedPattern,
  );
  assert.ok(months[0] !== undefined && months[0] === months[1]);
  assert.equal(numberedPattern('https://example.org/article/4711'), undefined);
  assert.notEqual(numberedPattern('https://example.org/2031/07/'), undefined);
  assert.notEqual(numberedPattern(`https://example.org/s/${'0a'.repeat(16)}/`), undefined);
});

test('a source covers its folder, or what its patterns include', () => {
  const settings = { follows: true, depth: 3, pages: 10, exclude: [], refreshHours: null };
  const below = createScope('https://example.org/guide/intro.html', { ...settings, include: [] });
  assert.ok(below('https://example.org/guide/deep/page.html'));
  for (const url of ['https://example.org/', 'http://example.org/guide/', 'https://example.org.evil.test/guide/x']) {
    assert.ok(!below(url), url);
  }
  const include = ['api/**', 'https://other.example.org/docs/**'];
  const chosen = createScope('https://example.org/guide/', { ...settings, include, exclude: ['api/old/**'] });
  assert.ok(chosen('https://example.org/api/a') && chosen('https://other.example.org/docs/b'));
  assert.ok(!chosen('https://example.org/api/old/a') && !chosen('https://other.example.org/api/a'));
});
