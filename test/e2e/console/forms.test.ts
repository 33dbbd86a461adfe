import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { connectAgent } from '../../acceptance/kb/kb-fixture.ts';
import type { Owner } from '../../fakes/loopback-server.ts';
import { startCarrel } from '../../support/child-program.ts';

async function serve(t: Owner, env: Record<string, string> = {}) {
  const { url } = await startCarrel(t, ['serve', '--transport', 'http'], {
    env: { EMBEDDING_PROVIDER: 'none', ...env },
  });
  const { origin } = new URL(url);
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${origin}${path}`, { headers, redirect: 'manual' });
  const post = (path: string, form: Record<string, string>, headers: Record<string, string> = { origin }) =>
    fetch(`${origin}${path}`, { method: 'POST', body: new URLSearchParams(form), headers, redirect: 'manual' });
  return { url, origin, get, post };
}

/** A server that keeps nothing deleted, for all tests that need no other settings. */
const shared = await serve({ after }, { KB_DELETED_BYTES_MAX: '0' });

test('the longest memory can be edited, in any script; requests without sign-in are limited', async (t) => {
  const { url, post } = shared;
  const { call } = await connectAgent(t, url);
  const { context_id: id } = await call('store_context', { thread_id: 't', source: 'user', text: 'short' });
  const saved = await post(`/memories/entry/${id}/save`, { text: '長'.repeat(2_000_000), tags: '', before: '' });
  assert.equal(saved.status, 303);
  assert.equal((await post('/sign-in', { token: 'x'.repeat(20_000) })).status, 413);
});

test('a URL cannot redirect a form elsewhere, and odd URLs and forms are refused', async () => {
  const { get, post } = shared;
  const lure = await (await get('/notes?done=deleted:..%2fdocuments%2f5%2fdelete')).text();
  assert.doesNotMatch(lure, /documents%2f5|documents\/5/i);
  for (const path of ['/notes/%0d%0aX-Injected:1/other', '/notes/%e4%b8%ad/other', '/documents/1/other']) {
    assert.equal((await post(path, { a: 'b' })).status, 404, path);
  }
  assert.equal((await post('/trash/documents/purge', { id: '999' })).status, 404, 'nothing was deleted');
  // Commas without names must not give a token for every collection.
  assert.equal((await post('/tokens/new', { name: 'wide', collections: ' , ' })).status, 400);
  for (const path of ['/console/__proto__', '/console/constructor', '/console/..%2fmain.js']) {
    assert.equal((await get(path)).status, 404, path);
  }
  assert.equal((await get('/sign-in')).headers.get('location'), '/');
});

test('permanent deletion requires confirmation', async (t) => {
  const { url, get, post } = shared;
  const { call } = await connectAgent(t, url);
  const documents = async () => (await call('kb_status'))['documents'];
  await call('kb_addnote', { text: 'A <note>' });
  while ((await documents()) !== 1) await delay(20);
  const asked = await post('/documents/1/delete', {});
  assert.equal(asked.headers.get('location'), '/documents/1?delete=1');
  assert.equal(await documents(), 1);
  const question = await (await get('/documents/1?delete=1')).text();
  assert.match(question, /Permanently delete A &lt;note&gt;\?.+can&#39;t be restored/s);
  const [, name = '', value = ''] = /<input type="hidden" name="(\w+)" value="(\w+)"/.exec(question) ?? [];
  const done = await post('/documents/1/delete', { [name]: value });
  assert.equal(done.headers.get('location'), '/documents?done=purged%3A1');
  assert.equal(await documents(), 0);
});

test('signing in works through a TLS proxy that changes Host, and the cookie is for TLS only', async (t) => {
  const token = 'a-long-enough-token-for-tests-1234';
  const { post, get } = await serve(t, { CARREL_AUTH_TOKEN: token, CARREL_ALLOWED_HOSTS: 'carrel.example' });
  const headers = { origin: 'https://carrel.example', 'sec-fetch-site': 'same-origin' };
  const signedIn = await post('/sign-in', { token }, headers);
  assert.equal(signedIn.status, 303);
  const cookie = signedIn.headers.get('set-cookie') ?? '';
  assert.match(cookie, /; HttpOnly; SameSite=Strict; Secure;/);
  const sent = { cookie: cookie.split(';', 1)[0] ?? '', 'x-forwarded-proto': 'https' };
  assert.match(await (await get('/connect', sent)).text(), /https:\/\/127\.0\.0\.1:\d+\/mcp/);
  const near = await post('/sign-in', { token }, { ...headers, 'sec-fetch-site': 'same-site' });
  assert.equal(near.status, 403);
});

test('unknown tool names are not stored', async (t) => {
  const { url, get } = shared;
  const { call } = await connectAgent(t, url);
  await assert.rejects(call('no_such_tool_here', {}));
  const page = await (await get('/activity')).text();
  assert.match(page, /unknown_tool/);
  assert.doesNotMatch(page, /no_such_tool_here/);
});

test("MCP takes precedence on a page's path", async (t) => {
  const { url, get } = await serve(t, { CARREL_PATH: '/' });
  const { call } = await connectAgent(t, url);
  assert.ok(await call('list_threads', {}));
  assert.equal((await get('/documents')).status, 200);
});
