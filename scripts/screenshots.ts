/**
 * Takes the screenshots for docs/tour.md: opens the console of the built program, with example data, in a real browser.
 * `npm run build && npm exec -- node scripts/screenshots.ts`. Needs Chromium, for example from Debian's packages.
 */
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Page } from 'playwright-core';
import { openBrowser } from '../test/support/browser.ts';
import { startCarrel, withModels } from '../test/support/child-program.ts';
import { pause } from '../test/support/pause.ts';

const root = join(import.meta.dirname, '..');
const images = join(root, 'docs/images');
const desktop = { viewport: { width: 1280, height: 800 } };
const phone = { viewport: { width: 390, height: 700 } };

const cleanUps: (() => unknown)[] = [];
const owner = { after: (cleanUp: () => unknown) => void cleanUps.push(cleanUp) };

try {
  mkdirSync(images, { recursive: true });
  const { url } = await startCarrel(owner, ['serve', '--transport', 'http'], { env: withModels });
  const { origin } = new URL(url);
  const client = new Client({ name: 'my-editor', version: '1.4' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  owner.after(() => client.close());
  const call = async (name: string, args: Record<string, unknown>) => {
    const { structuredContent } = await client.callTool({ name, arguments: args });
    return (structuredContent ?? {}) as Record<string, unknown>;
  };
  await addExampleData(call);
  const { page } = await openBrowser(owner, origin, { ...desktop, colorScheme: 'light' });
  await openAndShoot(page, '/?q=how+long+can+a+deleted+document+be+restored', 'search', '.hit');
  await page.locator('.hit').first().focus();
  await page.locator('#preview').waitFor();
  await takeScreenshot(page, 'preview');
  await openAndShoot(page, '/documents', 'documents', 'tbody tr');
  await openAndShoot(page, '/memories?thread=release', 'memories', 'article, .bubble, li');
  await openAndShoot(page, '/trash', 'trash', 'tbody tr, .empty');
  await openAndShoot(page, '/sources', 'sources', '.card');
  await openAndShoot(page, '/jobs', 'files', 'tbody tr');
  await openAndShoot(page, '/activity', 'activity', '#plots');
  await openAndShoot(page, '/connect', 'connect', 'section.client');
  const phonePage = await openBrowser(owner, origin, { ...phone, colorScheme: 'dark' });
  await openAndShoot(phonePage.page, '/?q=how+long+can+a+deleted+document+be+restored', 'search-phone-dark', '.hit');
} finally {
  for (const cleanUp of cleanUps.reverse()) await cleanUp();
}
// Needed because the browser is shared between tests and would keep this process running.
process.exit();

async function addExampleData(call: (name: string, args: Record<string, unknown>) => Promise<Record<string, unknown>>) {
  for (const name of ['console', 'kb', 'context', 'backup', 'adding-files', 'meaning']) {
    const text = readFileSync(join(root, `docs/${name}.md`), 'utf8');
    await call('kb_addnote', { text, title: `The manual: ${name}`, collection: 'manual', tags: ['carrel'] });
  }
  const draft = await call('kb_addnote', { text: 'A draft.', title: 'Draft', collection: 'manual' });
  const messages = [
    ['user', 'The release goes out on Thursday, after the backup test.'],
    ['agent', 'Noted. I will run the backup test on Wednesday evening.'],
    ['user', 'Deleted documents must be restorable for a month; that was the promise.'],
  ];
  for (const [source, text] of messages)
    await call('store_context', { thread_id: 'release', source, text, tags: ['plan'] });
  const friday = 'Decision changed: the release goes out on Friday.';
  await call('store_context', { thread_id: 'release', source: 'user', text: friday, tags: ['plan'], replaces: 1 });
  const content = 'Restoring reads the original file once more, so it takes as long as adding it did.';
  await call('save_note', { title: 'What restoring costs', content, tags: ['measured'] });
  for (;;) {
    const { queue, unembedded } = await call('kb_status', {});
    const { queued, processing } = queue as { queued: number; processing: number };
    if (queued + processing + Number(unembedded) === 0) break;
    await pause(200);
  }
  const { jobs } = await call('kb_jobs', { job_id: draft['job_id'] });
  await call('kb_delete', { document_id: (jobs as { document_id: number }[])[0]?.document_id });
  await call('find', { query: 'how long can a deleted document be restored' });
  await call('kb_get', { document_id: 4711 });
}

async function openAndShoot(page: Page, path: string, name: string, selector: string): Promise<void> {
  await page.goto(path);
  await page.locator(selector).first().waitFor();
  // Keyword results appear first. Waits for the final order.
  await page.getByText('Ranking', { exact: true }).waitFor({ state: 'hidden' });
  await takeScreenshot(page, name);
}

async function takeScreenshot(page: Page, name: string): Promise<void> {
  const file = join(images, `${name}.png`);
  await page.screenshot({ path: file });
  process.stdout.write(`${file}: ${Math.round(statSync(file).size / 1000)} KB\n`);
}
