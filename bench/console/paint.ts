/**
 * Measures paint times and page sizes of the console in Chromium: `node bench/console/paint.ts`, after a build.
 * Prints the median times of nine searches and the transferred bytes of each page.
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { openBrowser } from '../../test/support/browser.ts';
import { startCarrel } from '../../test/support/child-program.ts';
import { pause } from '../../test/support/pause.ts';

const searches = 9;
const pages = ['/', '/?q=lighthouse', '/documents', '/activity', '/connect'];

/** Script for the page: submits a search and records when the placeholder and the first result were painted. */
const searchScript = `{
  const form = document.querySelector('form[data-search]');
  const times = (window.times = {});
  const painted = (name) => {
    if (name in times) return;
    times[name] = 0;
    requestAnimationFrame(() => setTimeout(() => (times[name] = performance.now())));
  };
  new MutationObserver(() => {
    if (form.parentElement.querySelector('#results .skeletons')) painted('skeleton');
    if (form.parentElement.querySelector('#results .result')) painted('result');
  }).observe(form.parentElement, { childList: true, subtree: true });
  document.querySelector('#q').value = 'lighthouse';
  times.submit = performance.now();
  form.requestSubmit();
}`;
const responseEntry = `performance.getEntriesByType('resource').find(({ name }) => name.includes('q=lighthouse'))`;

const cleanUps: (() => unknown)[] = [];
const owner = { after: (cleanUp: () => unknown) => void cleanUps.push(cleanUp) };
const { url } = await startCarrel(owner, ['serve', '--transport', 'http'], { env: { EMBEDDING_PROVIDER: 'none' } });
const client = new Client({ name: 'bench', version: '1' });
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
for (let count = 0; count < 30; count += 1) {
  const note = {
    title: `Light ${count}`,
    content: `The lighthouse, part ${count}. ${'It shines. '.repeat(40)}`,
    tags: ['sea'],
  };
  await client.callTool({ name: 'save_note', arguments: note });
}
const { page, context } = await openBrowser(owner, new URL(url).origin);
const rows: Record<string, number>[] = [];
for (let count = 0; count < searches; count += 1) {
  await page.goto('/');
  await page.evaluate(searchScript);
  while (!(await page.evaluate('times.result > 0'))) await pause(20);
  rows.push(
    await page.evaluate(
      `({ skeleton: times.skeleton - times.submit, result: times.result - ${responseEntry}.responseEnd, answer: ${responseEntry}.duration })`,
    ),
  );
}
for (const name of ['skeleton', 'answer', 'result']) {
  const sorted = rows.map((row) => row[name] ?? 0).sort((a, b) => a - b);
  process.stdout.write(`${name}: ${Math.round(sorted[Math.floor(searches / 2)] ?? 0)} ms\n`);
}
const network = await context.newCDPSession(page);
await network.send('Network.enable');
await network.send('Network.setCacheDisabled', { cacheDisabled: true });
let bytes = 0;
network.on('Network.loadingFinished', ({ encodedDataLength }) => {
  bytes += encodedDataLength;
});
for (const path of pages) {
  bytes = 0;
  await page.goto(path, { waitUntil: 'load' });
  process.stdout.write(`${path}: ${(bytes / 1000).toFixed(1)} kB\n`);
}
for (const cleanUp of cleanUps.reverse()) await cleanUp();
// Needed because the browser is shared between tests and would keep this process running.
process.exit();
