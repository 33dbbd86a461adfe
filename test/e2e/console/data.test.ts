import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectAgent } from '../../acceptance/kb/kb-fixture.ts';
import { pdfOf, stream } from '../../security/parsers/bombs.ts';
import { openBrowser } from '../../support/browser.ts';
import { startCarrel } from '../../support/child-program.ts';
import { findChromium } from '../../support/install-chromium.ts';
import { until } from '../../support/pause.ts';

const browser = findChromium();
const skip = typeof browser === 'string' ? browser : false;

const hostile = `<img src=x onerror="window.broken=1">'"&\u202etxt.exe`;
const files = [
  {
    name: `report ${'ü'.repeat(3)}.md`,
    mimeType: 'text/markdown',
    buffer: Buffer.from('# Report\n\nThe bees came back.'),
  },
  { name: 'keeper.pdf', mimeType: 'application/pdf', buffer: keeperPdf() },
  { name: 'broken.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.4 nothing') },
];

/** Issue 37: documents, files, trash, memories and notes, in one program. */
test('the pages with data', { skip }, async (t) => {
  const { url } = await startCarrel(t, ['serve', '--transport', 'http'], { env: { EMBEDDING_PROVIDER: 'none' } });
  const { origin } = new URL(url);
  const { call } = await connectAgent(t, url);
  const { page, context, problems } = await openBrowser(t, origin);
  const toast = (text: string | RegExp) => page.locator('[data-toast]', { hasText: text }).waitFor();
  const rows = page.locator('tbody tr');

  await t.test('files: can be chosen or dropped anywhere, show their state, and explain failures', async () => {
    await page.goto('/jobs');
    await page.locator('input[type=file]').setInputFiles(files);
    await page.locator('.uploads .done').nth(2).waitFor();
    await page.evaluate(`{
      const dropped = new DataTransfer();
      dropped.items.add(new File(['The wasps came, too.'], 'dropped.txt'));
      document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: dropped, bubbles: true }));
    }`);
    for (const name of ['report', 'keeper.pdf', 'dropped.txt']) {
      await rows.filter({ hasText: name }).locator('.badge.good', { hasText: 'Added' }).waitFor();
    }
    const broken = rows.filter({ hasText: 'broken.pdf' });
    await broken.locator('.badge.bad').waitFor();
    assert.match(await broken.locator('.reason').innerText(), /damaged/);
    await page.getByRole('button', { name: 'Clear finished' }).click();
    await toast('cleared');
    assert.equal(await rows.count(), 0);
  });

  await t.test('documents: sorted, filtered, selected, retagged, moved, deleted and brought back', async () => {
    await call('kb_add', { text: 'Granite', title: `Granite ${hostile}`, collection: 'zoo', tags: ['stone'] });
    await until(async () => (await call('kb_status'))['documents'] === 4);
    await page.goto('/documents');
    await page.getByRole('link', { name: 'Title' }).click();
    await page.locator('th[aria-sort=ascending]').waitFor();
    const titles = await page.locator('td .title').allInnerTexts();
    assert.deepEqual(
      titles,
      titles.toSorted((a, b) => a.toLowerCase().localeCompare(b.toLowerCase())),
    );
    await page.getByLabel('Select all documents').check();
    await page.getByRole('button', { name: 'Tags' }).click();
    await page.getByLabel('Add').fill('checked, sea');
    await page.getByRole('button', { name: 'Change tags' }).click();
    await toast('4 documents');
    await rows.filter({ hasText: 'Granite' }).getByRole('link', { name: 'checked' }).click();
    await page.waitForURL(/tag=checked/);
    assert.equal(await rows.count(), 4);
    await rows.filter({ hasText: 'dropped' }).getByRole('checkbox').check();
    await page.getByRole('button', { name: 'Move' }).first().click();
    await page.locator('#selected-move').getByLabel('Collection').fill('insects');
    await page.locator('#selected-move').getByRole('button', { name: 'Move' }).click();
    await toast('1 document moved');
    await page.goto('/documents?collection=insects');
    assert.equal(await rows.count(), 1);
    await rows.getByRole('checkbox').check();
    await page.locator('.selection').getByRole('button', { name: 'Delete' }).click();
    await toast('1 document deleted');
    await page.getByRole('button', { name: 'Undo' }).click();
    await toast('Restoring');
    await until(async () => (await call('kb_status'))['documents'] === 4);
    await page.goto('/documents?collection=insects');
    assert.equal(await rows.count(), 1);
    assert.equal(await page.evaluate('window.broken'), undefined);
  });

  await t.test('a document: its text, the original, other tags, and deleting it', async () => {
    await page.goto('/documents?query=report');
    await rows.getByRole('link', { name: 'Report' }).click();
    await page.locator('article', { hasText: 'The bees came back' }).waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Original' }).click();
    assert.equal((await download).suggestedFilename(), 'report üüü.md');
    const original = await context.request.get(`${page.url()}/original`);
    assert.equal(await original.text(), '# Report\n\nThe bees came back.');
    assert.match(original.headers()['content-security-policy'] ?? '', /^sandbox/);
    await page.getByRole('button', { name: 'Tags and collection' }).click();
    await page.locator('#file [name=tags]').fill('bees');
    await page.locator('#file [name=collection]').fill('insects');
    await page.getByRole('button', { name: 'Save' }).click();
    await toast('Saved');
    const aside = await page.locator('aside').innerText();
    assert.match(aside, /insects.*bees/s);
    assert.doesNotMatch(aside, /checked/);
    await page.getByRole('button', { name: 'Delete' }).click();
    await toast('deleted');
  });

  await t.test('a PDF: its page is drawn with the passage marked, beside the results and in the document', async () => {
    await page.goto('/?q=retired+keeper');
    await page.locator('.summary .figure').waitFor();
    await page.locator('.result', { hasText: 'keeper' }).getByRole('link').first().click();
    await page.locator('#preview-slot canvas').waitFor();
    assert.equal(await page.locator('#preview-slot figcaption span').innerText(), 'Page 1 of 2');
    assert.deepEqual(await colours(), { ink: true, marked: true });
    await page.getByRole('button', { name: 'Next page' }).click();
    await page.getByText('Page 2 of 2').waitFor();
    await page.getByRole('link', { name: 'Open', exact: true }).click();
    await page.getByText('Pages as pictures').click();
    await page.locator('details canvas').waitFor();
    assert.deepEqual(await colours(), { ink: true, marked: false });
    assert.equal((await context.request.get('/console/pdfjs/wasm/jbig2.wasm')).status(), 200);
    for (const path of ['pdfjs/cmaps/..%2f..%2fmain.js', 'pdfjs/wasm/../../main.js', 'pdfjs/wasm/none.wasm']) {
      assert.equal((await context.request.get(`/console/${path}`)).status(), 404, path);
    }
  });

  await t.test('memories: a conversation that is written, replaced, edited and deleted with the keyboard', async () => {
    await page.goto('/memories');
    await page.getByRole('button', { name: 'New memory' }).click();
    await page.locator('#new [name=thread]').fill(`keepers ${hostile}`);
    await page.locator('#new').getByLabel('Text').fill('The keeper retires in May');
    await page.locator('#new').getByRole('button', { name: 'Save' }).click();
    await page.locator('.memory.user', { hasText: 'retires in May' }).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/memories\/entry\/\d+$/);
    await page.getByRole('button', { name: 'Replace' }).click();
    await page.locator('#replace').getByLabel('Text').fill('The keeper stays');
    await page.locator('#replace').getByRole('button', { name: 'Save' }).click();
    await page.locator('.notice', { hasText: /Replaces memory \d+/ }).waitFor();
    const newer = page.url();
    await page.goto('/?q=keeper+retires');
    await page.locator('.hit', { hasText: 'retires in May' }).getByRole('link', { name: 'Replaced' }).click();
    await page.waitForURL(newer);
    await page.getByRole('button', { name: 'Edit' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('#edit').getByLabel('Text').fill('The keeper came back in June');
    await page.locator('#edit summary').click();
    await page.locator('#edit').getByLabel('Metadata as JSON').fill('{"mood": "glad"}');
    await page.locator('#edit').getByRole('button', { name: 'Save' }).press('Enter');
    await page.locator('article', { hasText: 'came back in June' }).waitFor();
    assert.match(await page.locator('aside').innerText(), /"mood": "glad"/);
    await page.getByRole('button', { name: 'Delete' }).press('Enter');
    await toast('Memory deleted');
    assert.equal(await page.locator('.memory').count(), 1);
    await page.getByRole('button', { name: 'Undo' }).press('Enter');
    await page.locator('article', { hasText: 'came back in June' }).waitFor();
  });

  await t.test('notes: written with sources, found by tag, edited and deleted', async () => {
    await page.goto('/notes');
    await page.getByRole('button', { name: 'New note' }).click();
    await page.getByLabel('Title').fill(`Lamps ${hostile}`);
    await page
      .getByLabel('Text')
      .fill('## Lenses\n\nFresnel <script>window.broken=1</script> [x](javascript:window.broken=1)');
    await page.getByLabel('Tags').fill('light, glass');
    await page.getByLabel('Sources').fill('https://example.org/lamps\njavascript:alert(1)');
    await page.getByRole('button', { name: 'Save' }).click();
    assert.match(await page.locator('main').innerText(), /http or https/);
    await page.goBack();
    await page.getByRole('button', { name: 'New note' }).click();
    await page.getByLabel('Title').fill(`Lamps ${hostile}`);
    await page
      .getByLabel('Text')
      .fill('## Lenses\n\nFresnel <script>window.broken=1</script> [x](javascript:window.broken=1)');
    await page.getByLabel('Tags').fill('light, glass');
    await page.getByLabel('Sources').fill('https://example.org/lamps');
    await page.getByRole('button', { name: 'Save' }).click();
    await toast('Saved');
    assert.equal(await page.locator('.links a').getAttribute('href'), 'https://example.org/lamps');
    assert.equal(await page.locator('article a[href^="javascript"]').count(), 0);
    await page.getByRole('link', { name: 'glass' }).click();
    await page.locator('.hit', { hasText: 'Lamps' }).waitFor();
    await page.locator('.hit h2 a').click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await toast('Note deleted');
    assert.equal(await page.evaluate('window.broken'), undefined);
  });

  await t.test('trash: restores items, and asks before permanent deletion', async () => {
    await page.goto('/trash?kind=notes');
    await rows.getByRole('button', { name: 'Restore' }).click();
    await toast('1 note restored');
    await page.goto('/trash');
    await rows.getByRole('button', { name: 'Delete permanently' }).first().click();
    await page.locator('.popup:popover-open').getByRole('button', { name: 'Delete permanently' }).click();
    await toast('1 document permanently deleted');
    assert.equal(await rows.count(), 0);
    await assert.rejects(call('kb_purge', { document_ids: [1] }), 'clients have no such tool');
  });
  assert.deepEqual(problems, []);

  /** Which colours the drawn page has: black letters, and the yellow of a marked passage. */
  async function colours(): Promise<unknown> {
    return page.evaluate(`{
      const canvas = document.querySelector('canvas');
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      const has = (test) => data.some((red, at) => at % 4 === 0 && test(red, data[at + 2]));
      ({ ink: has((red) => red < 60), marked: has((red, blue) => red > 240 && blue < 140) });
    }`);
  }
});

function keeperPdf(): Buffer {
  const text = 'BT /F1 18 Tf 72 700 Td (The keeper of the lighthouse retired in May.) Tj ET';
  return pdfOf([stream(Buffer.from(text))], 2);
}
