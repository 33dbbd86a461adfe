import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { openStorage } from '../../../src/storage/open-storage.ts';
import { connectAgent, type KbAgent } from '../../acceptance/kb/kb-fixture.ts';
import type { Owner } from '../../fakes/loopback-server.ts';
import { openBrowser } from '../../support/browser.ts';
import { makeFolder, startCarrel, withModels } from '../../support/child-program.ts';
import { findChromium } from '../../support/install-chromium.ts';
import { until } from '../../support/pause.ts';
import { size } from '../../support/sizes.ts';

const browser = findChromium();
const skip = typeof browser === 'string' ? browser : false;

const hostile = `<img src=x onerror="window.broken=1">'"&\u202etxt.exe`;

const axe = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
/** In how many of the two looks a page is checked for barriers. With one, pages alternate. */
const barrierLooks = size({ quick: 1, full: 2 });
const findBarriers = `axe.run({ resultTypes: ['violations'], preload: false }).then(({ violations }) =>
  violations.flatMap(({ id, impact, nodes }) => nodes.map(({ target }) => [impact, id, String(target)])))`;

async function serve(t: Owner, env: Record<string, string> = {}, flags: string[] = [], dataDir?: string) {
  const { url } = await startCarrel(t, ['serve', '--transport', 'http', ...flags], {
    env,
    ...(dataDir && { dataDir }),
  });
  return { url, origin: new URL(url).origin };
}

async function serveFilled(t: Owner, env: Record<string, string> = {}) {
  const { url, origin } = await serve(t, env);
  const { call } = await connectAgent(t, url);
  await fill({ call });
  return { origin, call };
}

/** Servers for the tests that do not change what the others read, started by the first of them. */
let shared: ReturnType<typeof serveFilled> | undefined;
let sharedReadOnly: ReturnType<typeof serve> | undefined;
const cleanUps: (() => void | Promise<void>)[] = [];
const file: Owner = { after: (clean) => cleanUps.push(clean) };
after(async () => {
  for (const clean of cleanUps.reverse()) await clean();
});

function sharedServer(): ReturnType<typeof serveFilled> {
  shared ??= serveFilled(file);
  return shared;
}

/** A read-only server with 10,000 documents. */
function readOnlyServer(): ReturnType<typeof serve> {
  sharedReadOnly ??= (async () => {
    const dataDir = makeFolder(file);
    const path = join(dataDir, 'carrel.db');
    await (await openStorage({ backend: 'sqlite', path }, {})).close();
    const database = new DatabaseSync(path);
    database.exec(`
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
      INSERT INTO kb_documents (title, doc_type, filename, content_hash, content_type, bytes, details, chunk_count, created_at)
      SELECT 'Report ' || i, 'text', i || '.txt', printf('%064d', i), 'text/plain', 1, '{}', 0, '2026-01-01T00:00:00.000Z' FROM n`);
    database.close();
    return serve(file, {}, ['--read-only'], dataDir);
  })();
  return sharedReadOnly;
}

test('contract §8: / is a console with pages for everything, and contacts no other server', {
  skip,
}, async (t) => {
  const { origin } = await sharedServer();
  const { page, context, problems } = await openBrowser(t, origin);
  await page.goto('/');
  const links = await page.locator('.sidebar nav a').evaluateAll((all) => all.map((each) => each.getAttribute('href')));
  assert.deepEqual(links, [
    '/',
    '/documents',
    '/notes',
    '/memories',
    '/jobs',
    '/web',
    '/trash',
    '/activity',
    '/sources',
    '/connect',
    '/tokens',
    '/settings',
  ]);
  // Below, the browser opens each page and contacts no other server.
  for (const link of links) {
    const answer = await context.request.get(String(link));
    assert.equal(answer.status(), 200, String(link));
    assert.equal((await answer.text()).match(/<h1/g)?.length, 1, `${link} has one heading`);
  }
  assert.match(await (await context.request.get('/settings')).text(), /http\.port/);
  assert.deepEqual(problems, []);
});

test('shows results while typing, with relevance, the reason, and a preview at the passage', {
  skip,
}, async (t) => {
  const { origin } = await serveFilled(t, withModels);
  const { page, problems } = await openBrowser(t, origin);
  const search = async (query: string) => {
    await page.goto(`/?q=${encodeURIComponent(query)}`);
    await page.locator('.summary .figure').waitFor();
  };
  await page.goto('/');
  await page.locator('#q:focus').waitFor();
  await page.keyboard.type('lighthouse keeper');
  const hit = page.locator('.result').first();
  await page.waitForURL(/q=lighthouse\+keeper/);
  await page.locator('.summary .figure').waitFor();
  assert.match(await hit.innerText(), /lighthouse.*(?:Strong|Good|Possible)/is);
  assert.ok((await page.locator('.result mark').count()) > 0);
  const meters = await hit.locator('.meter span:first-child').allTextContents();
  for (const name of ['Relevance', 'Words']) assert.ok(meters.includes(name), meters.join());
  // The other meters follow once the reranker is ready and the document has its vector.
  for (const hasText of ['Reranker', 'Meaning']) {
    await until(async () => {
      await search('lighthouse keeper');
      return (await page.locator('.meter', { hasText }).count()) > 0;
    });
  }

  await search('granite');
  assert.match(await page.locator('select[name=source]').innerText(), /All sources\s+Documents \(1\)/);
  await page.locator('.result', { hasText: 'granite' }).getByRole('link').first().click();
  await page.locator('#preview-slot .passage', { hasText: 'built of granite' }).waitFor();
  assert.equal(await page.locator('#preview-slot mark').first().innerText(), 'granite');
  await page.getByRole('link', { name: 'Open', exact: true }).click();
  await page.waitForURL(/\/documents\/1$/);

  await search('where the gulls sleep');
  await page.keyboard.press('j');
  await page.locator('#preview-slot .passage', { hasText: 'The gulls sleep on the lantern' }).waitFor();
  await page.keyboard.press('Escape');
  await page.locator('#preview-slot .preview').waitFor({ state: 'detached' });

  await search('note on the keeper');
  await page.locator('.chip', { hasText: 'sea' }).first().click();
  await page.locator('.chip[aria-current]', { hasText: 'sea' }).waitFor();
  assert.match(page.url(), /tag=sea/);
  assert.equal(await page.evaluate('window.broken'), undefined);
  assert.deepEqual(problems, []);
});

test('a preview is plain text: foreign markup, scripts, links and images have no effect', {
  skip,
}, async (t) => {
  const { origin, call } = await sharedServer();
  const content = `<script>window.broken=1</script> <img src=x onerror="window.broken=1"> <svg onload="window.broken=1">

[a](javascript:window.broken=1) [b](data:text/html,x) ![c](http://evil.example/c.png) \u202egnp.exe

${'| x '.repeat(400)}|
${'[('.repeat(5_000)} haystack`;
  await call('save_note', { title: hostile, content, tags: [hostile, 'x'.repeat(50)] });
  const { page, problems } = await openBrowser(t, origin);
  await page.goto('/?q=haystack');
  await page.locator('.summary .figure').waitFor();
  await page.locator('.result').first().click();
  const preview = page.locator('#preview-slot .preview');
  assert.match(await preview.innerText(), /<script>window\.broken=1<\/script>.*<svg onload/s);
  assert.equal(await preview.locator('.preview-body :is(script, img, svg, a)').count(), 0);
  assert.doesNotMatch(await page.content(), /\u202e/);
  assert.equal(await page.evaluate('window.broken'), undefined);
  assert.deepEqual(problems, []);
});

test('searches work without scripts, and an unknown address has a page', {
  skip,
}, async (t) => {
  const { origin } = await sharedServer();
  const { page } = await openBrowser(t, origin, { javaScriptEnabled: false });
  await page.goto('/');
  await page.locator('#q').fill('granite');
  await page.keyboard.press('Enter');
  await page.locator('.summary .figure').waitFor();
  await page.locator('.result', { hasText: 'granite' }).getByRole('link').first().click();
  await page.waitForURL(/\/documents\/1\?/);
  const lost = await page.goto('/no/such/page');
  assert.equal(lost?.status(), 404);
  await page.getByRole('link', { name: 'Go to search' }).click();
  await page.locator('#q').waitFor();
});

test('with a token the console asks for it once, in a cookie that scripts cannot read; other sites’ forms are refused', {
  skip,
}, async (t) => {
  const token = 'a-long-enough-token-for-tests-1234';
  const { origin } = await serve(t, { CARREL_AUTH_TOKEN: token });
  const { page, context } = await openBrowser(t, origin);
  assert.equal((await page.goto('/documents'))?.status(), 401);
  const withHeader = await context.request.get('/documents', { headers: { authorization: `Bearer ${token}` } });
  assert.equal(withHeader.status(), 200);
  await page.getByLabel('Token').fill('wrong');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
  await page.getByLabel('Token').fill(token);
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/~[\w-]{22}\/documents$/);
  const [cookie] = await context.cookies(page.url());
  assert.deepEqual([cookie?.httpOnly, cookie?.sameSite], [true, 'Strict']);
  // All ports of a host share cookies, so each server's cookie has its own name.
  assert.match(cookie?.name ?? '', new RegExp(`^carrel_[0-9a-f]{12}${new URL(origin).port}$`));
  assert.ok(!(await page.content()).includes(token));
  const newNote = page.url().replace('documents', 'notes/new');
  const cross = await context.request.post(newNote, {
    form: { title: 'x', content: 'x' },
    headers: { origin: 'http://evil.example' },
  });
  assert.equal(cross.status(), 403);
  const bare = await context.request.post(newNote, { form: { title: 'x', content: 'x' } });
  assert.equal(bare.status(), 403);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Token').waitFor();
  await page.goto('/notes');
  await page.getByLabel('Token').waitFor();
});

test('read-only mode shows everything and offers no change', { skip }, async (t) => {
  const { origin } = await readOnlyServer();
  const { page, problems } = await openBrowser(t, origin);
  for (const path of [
    '/notes',
    '/memories',
    '/jobs',
    '/documents',
    '/trash',
    '/documents?done=deleted:1',
    '/notes?done=deleted:1',
  ]) {
    await page.goto(path);
    assert.equal(await page.locator('form[method=post]').count(), 0, path);
    assert.equal(await page.locator('input[type=file]').count(), 0, path);
  }
  assert.match(await page.locator('[role=note]').innerText(), /read-only/);
  assert.deepEqual(problems, []);
});

test('every page is accessible and fits: wide in light, a phone in dark', { skip }, async (t) => {
  const { origin, call } = await sharedServer();
  const { id } = (
    await call('save_note', { title: 'Lamps', content: '```\n'.concat('a long line '.repeat(30), '\n```') })
  )['note'] as { id: string };
  await until(async () => (await call('kb_status', {}))['documents'] === 1);
  const lists = [
    '/',
    '/?q=lighthouse',
    '/documents',
    '/notes',
    '/memories',
    '/memories?thread=log',
    '/jobs',
    '/trash',
    '/web',
  ];
  const single = ['/documents/1', `/notes/${id}`, '/memories/entry/1', '/web/new', '/tokens/new', '/no/such/page'];
  const server = ['/activity', '/activity?view=clients', '/sources', '/connect', '/tokens', '/settings'];
  const looks = [
    { viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
    { viewport: { width: 390, height: 780 }, colorScheme: 'dark' },
  ] as const;
  const { page, problems } = await openBrowser(t, origin);
  for (const [index, path] of [...lists, ...single, ...server].entries()) {
    for (const [look, { viewport, colorScheme }] of looks.entries()) {
      if (barrierLooks === 1 && index % 2 !== look) continue;
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      await page.goto(path);
      assert.deepEqual(await page.evaluate(`${axe}; ${findBarriers}`), [], `${path} ${colorScheme}`);
    }
    for (const { viewport } of looks) {
      await page.setViewportSize(viewport);
      const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      assert.ok(Number(overflow) <= 0, `${path} is ${overflow} px too wide for ${viewport.width} px`);
    }
  }
  assert.deepEqual(problems, []);
});

test('10,000 documents are shown a page at a time', { skip }, async (t) => {
  const { origin } = await readOnlyServer();
  const { page, problems } = await openBrowser(t, origin);
  await page.goto('/documents');
  assert.equal(await page.locator('tbody tr').count(), 50);
  assert.match(await page.locator('.pager').innerText(), /1–50 of 10,000/);
  await page.getByRole('link', { name: 'Next' }).click();
  await page.locator('.pager', { hasText: '51–100 of 10,000' }).waitFor();
  await page.getByLabel('Title or path').fill('Report 9876');
  await page.locator('tbody tr', { hasText: 'Report 9876' }).waitFor();
  assert.deepEqual(problems, []);
});

test('a late answer to an earlier query does not replace the current one', {
  skip,
}, async (t) => {
  const { origin } = await sharedServer();
  const { page, problems } = await openBrowser(t, origin);
  await page.goto('/');
  const held = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  await page.route(/q=granite$/, async (route) => {
    asked.resolve();
    await held.promise;
    await route.continue().catch(() => {});
  });
  await page.locator('#q').fill('granite');
  await asked.promise;
  await page.locator('#q').fill('retired keeper');
  await page.locator('.hit', { hasText: 'retired in May' }).waitFor();
  held.resolve();
  await page.locator('#q').fill('retired keeper May');
  await page.waitForURL(/q=retired\+keeper\+May/);
  assert.match(await page.locator('#results').innerText(), /retired in May/);
  assert.deepEqual(problems, []);
});

test('saving an untouched form changes nothing: control characters, line breaks, tags with commas', {
  skip,
}, async (t) => {
  const { origin, call } = await sharedServer();
  const text = 'red \u001b[31malert\u202e!\u202c\n\n\tsecond <b>"line"</b>';
  const tags = ['one, two', 'three'];
  const { context_id: id } = await call('store_context', { thread_id: 't', source: 'user', text, tags });
  const { page } = await openBrowser(t, origin);
  await page.goto(`/memories/entry/${id}`);
  await page.getByRole('button', { name: 'Edit' }).click();
  await Promise.all([
    page.waitForResponse((response) => response.request().method() === 'POST' && response.status() === 303),
    page.getByRole('button', { name: 'Save' }).click(),
  ]);
  const { results } = await call('search_context', { thread_id: 't' });
  const [entry] = results as { text_content: string; tags: string[] }[];
  assert.equal(entry?.text_content, text);
  assert.deepEqual(entry?.tags, tags);
});

async function fill({ call }: Pick<KbAgent, 'call'>): Promise<void> {
  await call('store_context', {
    thread_id: `thread ${hostile}`,
    source: 'user',
    text: 'The lighthouse keeper retired in May',
    tags: [hostile],
  });
  const long = `${'Nothing happened on this day. '.repeat(60)}The gulls sleep on the lantern.`;
  await call('store_context', { thread_id: 'log', source: 'user', text: long });
  await call('save_note', { title: hostile, content: 'A note on the lighthouse and its keeper.', tags: ['sea'] });
  await call('kb_addnote', { text: 'The lighthouse was built of granite.', title: `Granite ${hostile}` });
}
