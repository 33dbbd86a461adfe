import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { openBrowser } from '../support/browser.ts';
import { startCarrel } from '../support/child-program.ts';
import { findChromium } from '../support/install-chromium.ts';

const browser = findChromium();
const skip = typeof browser === 'string' ? browser : false;

const token = 'a-long-enough-token-for-tests-1234';

test('a server on another port can neither use nor replace a session of the console, with or without scripts', {
  skip,
}, async (t) => {
  const { origin } = await startCarrel(t, ['serve', '--transport', 'http'], { env: { CARREL_AUTH_TOKEN: token } });
  const received: string[] = [];
  let planted = '';
  let link = '';
  const neighbour = createServer((request, response) => {
    received.push(request.headers.cookie ?? '');
    response.setHeader('content-type', 'text/html');
    if (planted !== '') response.setHeader('set-cookie', planted);
    response.end(`<a href="${link}">here</a>`);
  });
  await new Promise<void>((done) => void neighbour.listen(0, '127.0.0.1', done));
  t.after(() => neighbour.close());
  const elsewhere = `http://127.0.0.1:${(neighbour.address() as AddressInfo).port}/`;
  // The neighbour also has a separate session.
  const own = await fetch(`${origin}/sign-in`, {
    method: 'POST',
    body: new URLSearchParams({ token }),
    headers: { origin },
    redirect: 'manual',
  });
  const [cookie = ''] = own.headers.getSetCookie();
  link = `${origin}${own.headers.get('location')}notes`;

  for (const javaScriptEnabled of [true, false]) {
    planted = '';
    const { page, context } = await openBrowser(t, origin, { javaScriptEnabled });
    await page.goto('/notes');
    await page.getByLabel('Token').fill(token);
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/~[\w-]{22}\/notes$/);
    const signedIn = page.url();
    await page.goto(elsewhere);
    assert.equal(received.at(-1), '', 'the cookie is not sent to other ports');
    const [session] = await context.cookies(signedIn);
    assert.ok(session?.httpOnly);
    const headers = { cookie: `${session.name}=${session.value}` };
    assert.equal((await fetch(`${origin}/notes`, { headers })).status, 401, 'nor does it suffice');
    assert.equal((await fetch(signedIn)).status, 401, 'nor does the path');

    planted = cookie;
    await page.goto(elsewhere);
    await Promise.all([page.waitForURL(/notes$/), page.getByRole('link').click()]);
    if (javaScriptEnabled) await page.waitForURL(signedIn);
    else await page.getByLabel('Token').waitFor();

    await page.goto(signedIn);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
    assert.equal((await page.goto(signedIn))?.status(), 401);
  }
});
