import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { connectAgent } from '../../acceptance/kb/kb-fixture.ts';
import { startPageSite } from '../../fakes/page-site.ts';
import { openBrowser, type Visitor } from '../../support/browser.ts';
import { type Carrel, startCarrel } from '../../support/child-program.ts';
import { findChromium } from '../../support/install-chromium.ts';
import { until } from '../../support/pause.ts';

const browser = findChromium();
const hostile = `<img src=x onerror="window.broken=1">'"&\u202etxt.exe ${'long'.repeat(200)}`;

describe('pages about the server', { skip: typeof browser === 'string' ? browser : false }, () => {
  const ends: (() => unknown)[] = [];
  const owner = { after: (end: () => unknown) => void ends.unshift(end) };
  let server: Carrel;
  let site: Awaited<ReturnType<typeof startPageSite>>;
  let visitor: Visitor;
  before(async () => {
    site = await startPageSite(owner);
    const env = { EMBEDDING_PROVIDER: 'none', FETCH_ALLOW_PRIVATE: '127.0.0.1', FETCH_OWN_HOSTS: '127.0.0.1' };
    server = await startCarrel(owner, ['serve', '--transport', 'http'], { env });
    const { call } = await connectAgent(owner, server.url);
    await call('kb_search', { query: `lighthouse ${hostile}` });
    await call('save_note', { title: 'Lamps', content: 'x' });
    await assert.rejects(call('get_note', { id: 'missing' }));
    visitor = await openBrowser(owner, server.origin, { timezoneId: 'Asia/Tokyo' });
    await visitor.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  });
  after(async () => {
    for (const end of ends) await end();
  });

  async function addToken(name: string, fill: () => Promise<unknown> = async () => {}): Promise<string> {
    const { page } = visitor;
    await page.goto(`${new URL(page.url()).pathname.replace(/\/\w+(\/new)?$/, '')}/tokens/new`);
    await page.locator('[name=name]').fill(name);
    await fill();
    await page.getByRole('button', { name: 'Add token' }).click();
    return page.locator('#token').innerText();
  }

  it('Activity shows what was asked and got, filters it, and plots it with values under the pointer', async () => {
    const { page } = visitor;
    await page.goto('/activity');
    const rows = page.locator('#list tbody tr');
    assert.match(await rows.last().innerText(), /kb_search lighthouse <img.*0 results/s);
    await page.getByLabel('Result').selectOption('failed');
    await page.waitForURL(/outcome=failed/);
    await rows.filter({ hasText: 'kb_search' }).waitFor({ state: 'detached' });
    assert.equal(await rows.filter({ hasText: 'Note not found' }).count(), 1);
    assert.equal(await rows.count(), 1);
    await page.getByLabel('Find').fill('nothing of that kind');
    await page.getByText('No calls match').waitFor();
    const plot = page.locator('.plot', { hasText: 'Calls' });
    const area = (await plot.locator('svg').boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    await page.mouse.move(area.x + area.width - 1, area.y + area.height / 2);
    await plot.locator('.plot-value', { hasText: ' · ' }).waitFor();
    const now = new Date();
    const hour = now.toLocaleTimeString('en', { timeZone: 'Asia/Tokyo', hour: '2-digit', hourCycle: 'h23' });
    assert.match(await plot.locator('.plot-value').innerText(), /^\d\d:\d0 · 3 · 1 failed$/);
    assert.match(await plot.locator('.plot-times time').last().innerText(), new RegExp(`^(${hour}|\\d\\d):`));
    await page.goto('/activity?view=tools');
    await page.getByRole('link', { name: 'save_note' }).click();
    await page.waitForURL(/tool=save_note/);
    await page.goto('/activity?view=clients');
    assert.match(await page.locator('#clients tbody').innerText(), /127\.0\.0\.1.*Connected.*3/s);
  });

  it('web sources are added, shown with their run, paused, and removed with their documents', async () => {
    const { page } = visitor;
    await page.goto('/web');
    await page.getByRole('link', { name: 'Add source' }).click();
    await page.getByLabel('Address').fill(`${site.origin}/article`);
    await page.getByLabel('Collection').fill('cranes');
    await page.getByRole('button', { name: 'Add source' }).click();
    const card = page.locator('article', { hasText: '/article' });
    await card.getByText('Up to date').waitFor();
    assert.match(await card.innerText(), /1 document\s+in cranes.*Last run.*1 new/s);
    await card.getByRole('button', { name: 'Pause' }).click();
    await card.getByText('Paused', { exact: true }).waitFor();
    await card.getByRole('button', { name: 'Resume' }).click();
    await card.getByText('Up to date').waitFor();
    await card.getByRole('button', { name: 'Remove' }).first().click();
    await page.getByLabel('Also delete its 1 document').check();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No web sources yet').waitFor();
    await page.goto('/documents');
    assert.doesNotMatch(await page.locator('main').innerText(), /crane/);
    for (const url of ['javascript:alert(1)', 'file:///etc/passwd', 'http://u:p@h/']) {
      await page.goto('/web/new');
      await page.getByLabel('Address').evaluate((input) => input.setAttribute('type', 'text'));
      await page.getByLabel('Address').fill(url);
      await page.getByRole('button', { name: 'Add source' }).click();
      assert.match(await page.getByRole('alert').innerText(), /http or https address without a password/);
    }
  });

  it('each source has a card, the settings are found by name, and each client entry is copied', async () => {
    const { page } = visitor;
    await page.goto('/sources');
    const card = page.locator('.card', { hasText: 'Server' });
    assert.match(await card.innerText(), /No recent backup.*SQLite.*carrel backup/s);
    await page.goto('/settings');
    assert.match(
      await page.locator('section.card', { hasText: 'Set by you' }).innerText(),
      /embedding\.provider\s+none/,
    );
    await page.getByLabel('Find').fill('messageBytes');
    await page.locator('.area[open] dd', { hasText: '4.19 MB' }).waitFor();
    await page.goto('/connect');
    assert.equal(await page.locator('section.client').count(), 10);
    await page.locator('[data-copy="#zed-entry"]').click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    assert.match(String(await page.evaluate('navigator.clipboard.readText()')), /"context_servers"/);
  });

  it('the first token is shown once, closes the server, and signs in; a restricted one sees none of the server’s pages', async () => {
    const { page, context } = visitor;
    await page.goto('/tokens');
    assert.match(await page.locator('main').innerText(), /every HTTP client needs one/);
    const full = await addToken('laptop');
    assert.match(full, /^carrel_[\w-]{43}$/);
    const authorization = `Bearer ${full}`;
    await until(async () => (await context.request.get('/tokens')).status() === 401);
    assert.equal((await context.request.get('/tokens', { headers: { authorization } })).status(), 200);
    assert.equal((await page.goto('/tokens'))?.status(), 401);
    await page.getByLabel('Token').fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Token').fill(full);
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/~[\w-]{22}\/tokens$/);
    const [cookie] = await context.cookies(page.url());
    assert.deepEqual([cookie?.httpOnly, cookie?.sameSite], [true, 'Strict']);
    // All ports of a host share cookies, so each server's cookie has its own name.
    assert.match(cookie?.name ?? '', new RegExp(`^carrel_[0-9a-f]{12}${new URL(server.origin).port}$`));
    assert.ok(!(await page.content()).includes(full));
    const newNote = page.url().replace('tokens', 'notes/new');
    const form = { title: 'x', content: 'x' };
    for (const headers of [{ origin: 'http://evil.example' }, {}]) {
      assert.equal((await context.request.post(newNote, { form, headers })).status(), 403, 'another site’s form');
    }

    const some = await addToken('reader', async () => {
      await page.getByLabel('Read only').check();
      await page.getByLabel('Collections').fill('papers');
    });
    await page.getByRole('link', { name: 'Done' }).click();
    assert.match(await page.locator('tr', { hasText: 'reader' }).innerText(), /Read\s+Collections: papers/);
    assert.doesNotMatch(await page.content(), new RegExp(some));

    const headers = { authorization: `Bearer ${some}` };
    const text = async (path: string) => (await fetch(`${server.origin}${path}`, { headers })).text();
    for (const path of ['/tokens', '/tokens/new', '/settings']) {
      assert.equal((await fetch(`${server.origin}${path}`, { headers })).status, 404, path);
    }
    assert.doesNotMatch(await text('/sources'), /Data folder/);
    assert.doesNotMatch(await text('/connect'), /that have called/);
    const own = await connectAgent(owner, server.url, some);
    await own.call('kb_search', { query: 'my own question' });
    for (const path of ['/activity', '/activity?view=clients', '/activity?q=lighthouse']) {
      assert.doesNotMatch(await text(path), /lighthouse <|save_note|laptop|Storage/, path);
    }
    assert.match(await text('/activity'), /my own question/);

    await page.locator('tr', { hasText: 'reader' }).getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('Token revoked').waitFor();
    assert.equal((await fetch(`${server.origin}/documents`, { headers })).status, 401);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
    assert.equal((await page.goto('/notes'))?.status(), 401);
    assert.deepEqual(visitor.problems, []);
  });
});
