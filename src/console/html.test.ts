import assert from 'node:assert/strict';
import { test } from 'node:test';
import { html } from './html.ts';

test('escapes values in markup and attributes, except markup made by html', () => {
  const title = `<script>alert('x')</script> "&`;
  const inner = html`<b>${title}</b>`;
  assert.equal(
    html`<p title="${title}">${[inner, 1, null, false]}</p>`.markup,
    '<p title="&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &quot;&amp;"><b>&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &quot;&amp;</b>1</p>',
  );
});

test('shows bidirectional and invisible characters as boxes', () => {
  assert.equal(html`${'invoice\u202efdp.exe\u0000\n'}`.markup, 'invoice□fdp.exe□\n');
});
