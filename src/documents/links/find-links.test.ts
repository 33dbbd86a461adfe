import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findLinks } from './find-links.ts';

const url = 'https://example.org/guide/';

test('finds links in tags only, resolves them, and reads robots directives', () => {
  const found = findLinks(
    'html',
    `<base href="/docs/"><title><a href=in-title></title><link rel="canonical" href="one">
    <meta name=ROBOTS content="NoIndex, nofollow"><script>"<a href=scripted>"</script><style>a{}</style><!-- <a href=comment> -->
    <div hidden><a href="menu#part">m</a></div><A HREF=' b '>b</A><a href="b#again">b</a><a rel="ugc nofollow" href=c>c</a>
    <area href="/area"><iframe src=frame></iframe><a href="javascript:x()">j</a><textarea><a href=typed></textarea>
    <meta http-equiv=refresh content="5; URL='next'"><svg><a href=drawn></a></svg><a href="https://other.test/x">o</a>`,
    url,
  );
  const own = ['docs/menu', 'docs/b', 'area', 'docs/frame', 'docs/next', 'docs/drawn'];
  assert.deepEqual(found?.urls, [...own.map((path) => `https://example.org/${path}`), 'https://other.test/x']);
  assert.deepEqual([found?.canonical, found?.noindex, found?.nofollow], ['https://example.org/docs/one', true, true]);
});

test('reads sitemaps and their indexes, and nothing from other XML', () => {
  const map = `<?xml version="1.0"?><urlset xmlns:image="x"><url><loc> https://example.org/a?b=1&amp;c=2 </loc>
    <lastmod>2026-01-02</lastmod><image:image><image:loc>https://example.org/i.png</image:loc></image:image></url>
    <url><loc>/relative</loc></url><url><loc>/relative</loc></url></urlset>`;
  assert.deepEqual(findLinks('xml', map, url)?.entries, [
    { url: 'https://example.org/a?b=1&c=2', changed: '2026-01-02' },
    { url: 'https://example.org/relative' },
  ]);
  const index = '<sitemapindex><sitemap><loc>https://example.org/1.xml</loc></sitemap></sitemapindex>';
  assert.deepEqual(findLinks('xml', index, url)?.sitemaps, ['https://example.org/1.xml']);
  assert.deepEqual(findLinks('xml', '<other><url><loc>https://example.org/</loc></url></other>', url)?.entries, []);
});
