import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { openStorage } from '../../../src/storage/open-storage.ts';
import { connectAgent, type KbAgent } from '../../acceptance/kb/kb-fixture.ts';
import { type Owner, serveHttp } from '../../fakes/loopback-server.ts';
import { openBrowser } from '../../support/browser.ts';
import { makeFolder, startCarrel } from '../../support/child-program.ts';
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

/** Settings for the local vectors, and for a reranker that finds every passage good that has a word of the query. */
async function modelsOf(t: Owner): Promise<Record<string, string>> {
  const { origin } = await serveHttp(t, async (request, response) => {
    const { query, documents } = JSON.parse(await text(request)) as { query: string; documents: string[] };
    const isGood = (passage: string) => query.split(' ').some((word) => passage.includes(word));
    const results = documents.map((passage, index) => ({ index, relevance_score: isGood(passage) ? 0.9 : 0.01 }));
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ results }));
  });
  const reranker = { ENABLE_RERANKING: 'true', RERANKING_PROVIDER: 'http', RERANKING_URL: origin };
  return { EMBEDDING_PROVIDER: 'local', EMBEDDING_THREADS: '1', ...reranker };
}

/** A server with some data, which has its vectors, and a browser that shows its pages. */
async function serveFilled(t: Owner) {
  const { url, origin } = await serve(t, await modelsOf(t));
  const { call } = await connectAgent(t, url);
  await fill({ call });
  await until(async () => {
    const { documents, unembedded } = await call('kb_status');
    return documents === 1 && unembedded === 0;
  });
  return { origin, call, ...(await openBrowser(t, origin)) };
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
}, async () => {
  const { page, context, problems } = await sharedServer();
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
}, async () => {
  const { page, problems } = await sharedServer();
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
  const meters = await page.locator('.meter span:first-child').allTextContents();
  for (const name of ['Relevance', 'Words', 'Meaning', 'Reranker']) assert.ok(meters.includes(name), meters.join());

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
}, async () => {
  const { page, problems, call } = await sharedServer();
  const content = `<script>window.broken=1</script> <img src=x onerror="window.broken=1"> <svg onload="window.broken=1">

[a](javascript:window.broken=1) [b](data:text/html,x) ![c](http://evil.example/c.png) \u202egnp.exe

${'| x '.repeat(400)}|
${'[('.repeat(5_000)} haystack`;
  await call('save_note', { title: hostile, content, tags: [hostile, 'x'.repeat(50)] });
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

test('read-only mode shows everything and offers no change', { skip }, async () => {
  const change = /<form[^>]* method="post"|<input[^>]* type="file"/;
  const get = async (origin: string, path: string) => (await fetch(`${origin}${path}`)).text();
  assert.match(await get((await sharedServer()).origin, '/jobs'), change);
  const { origin } = await readOnlyServer();
  for (const path of [
    '/notes',
    '/memories',
    '/jobs',
    '/documents',
    '/trash',
    '/documents?done=deleted:1',
    '/notes?done=deleted:1',
  ]) {
    const html = await get(origin, path);
    assert.match(html, /This server is read-only/, path);
    assert.doesNotMatch(html, change, path);
  }
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
}, async () => {
  const { page, problems } = await sharedServer();
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
}, async () => {
  const { page, call } = await sharedServer();
  const text = 'red \u001b[31malert\u202e!\u202c\n\n\tsecond <b>"line"</b>';
  const tags = ['one, two', 'three'];
  const { context_id: id } = await call('store_context', { thread_id: 't', source: 'user', text, tags });
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

test('every page is accessible and fits, even with long names: wide in light, a phone in dark', { skip }, async () => {
  const { page, problems, call } = await sharedServer();
  const long = 'W'.repeat(190);
  await call('kb_add', { text: long, title: long, collection: long.slice(0, 60), tags: [long.slice(0, 90)] });
  const memory = { thread_id: long, source: 'agent', text: long };
  const { context_id: entry } = await call('store_context', memory);
  const { context_id: deleted } = await call('store_context', { ...memory, text: 'deleted' });
  await call('delete_context', { context_ids: [deleted] });
  const content = `${long}\n\n\`\`\`\n${'a long line '.repeat(30)}\n\`\`\``;
  const source_urls = [`https://example.org/${long}`];
  const { note } = (await call('save_note', { title: long, content, source_urls })) as { note: { id: string } };
  await call('kb_search', { query: `lighthouse ${hostile} ${'long'.repeat(200)}` });
  await until(async () => (await call('kb_status', {}))['documents'] === 2);
  const lists = [
    '/',
    '/?q=lighthouse',
    '/documents',
    '/notes',
    '/memories',
    `/memories?thread=${long}`,
    '/jobs',
    '/trash?kind=memories',
    '/web',
  ];
  const single = [
    '/documents/2',
    `/notes/${note.id}`,
    `/memories/entry/${entry}`,
    '/web/new',
    '/tokens/new',
    '/no/page',
  ];
  const activity = ['/activity', '/activity?view=tools', '/activity?view=clients'];
  const looks = [
    { viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
    { viewport: { width: 390, height: 780 }, colorScheme: 'dark' },
  ] as const;
  await page.addInitScript(axe);
  for (const [index, path] of [
    ...lists,
    ...single,
    ...activity,
    '/sources',
    '/connect',
    '/tokens',
    '/settings?q=a',
  ].entries()) {
    for (const [look, { viewport, colorScheme }] of looks.entries()) {
      const isChecked = barrierLooks === 2 || index % 2 === look;
      // Every page must fit a phone.
      if (!isChecked && look === 0) continue;
      await page.setViewportSize(viewport);
      if (isChecked) {
        await page.emulateMedia({ colorScheme });
        await page.goto(path);
        assert.deepEqual(await page.evaluate(findBarriers), [], `${path} ${colorScheme}`);
      }
      const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      assert.ok(Number(overflow) <= 0, `${path} is ${overflow} px too wide for ${viewport.width} px`);
      assert.equal(await page.evaluate('window.broken'), undefined);
    }
  }
  assert.deepEqual(problems, []);
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
