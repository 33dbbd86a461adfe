import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { isCarrelError } from '../../../src/base/errors.ts';
import { createExtractor } from '../../../src/documents/extractor.ts';
import { chunkDocument } from '../../../src/search/chunking/chunk-document.ts';
import { size } from '../../support/sizes.ts';
import { type FormatBomb, officeBombs, textBombs, zipBombs } from './format-bombs.ts';
import { oleBombs } from './ole-bombs.ts';

const textCharsMax = size({ quick: 200_000, full: 2_000_000 });
const extractor = createExtractor({
  cpuMsMax: size({ quick: 2000, full: 60_000 }),
  memoryMb: 256,
  workersMax: 2,
  textCharsMax,
});
after(() => extractor.close());

const small = { bytes: Buffer.from('<!doctype html><p>A small page.</p>'), mode: 'text' as const };

for (const bomb of [...zipBombs, ...officeBombs, ...oleBombs, ...textBombs]) {
  test(`${bomb.name}: ends as it must while another page is read`, () => tryBomb(bomb));
}

async function tryBomb({ bytes, ends }: FormatBomb): Promise<void> {
  const outcome = extractor.extract({ bytes: bytes(), mode: 'markdown' }).catch((error: unknown) => error);
  assert.equal((await extractor.extract(small)).text, 'A small page.');
  const result = await outcome;
  if ('code' in ends) {
    assert.ok(isCarrelError(result), JSON.stringify(result).slice(0, 300));
    assert.equal(result.code, ends.code, `${result.message} ${String(result.cause)}`);
    return;
  }
  assert.ok(typeof result === 'object' && result !== null && 'text' in result, String(result));
  const document = result as Awaited<ReturnType<typeof extractor.extract>>;
  assert.match(document.text, ends.text);
  assert.ok(document.text.length <= textCharsMax);
  // Chunking runs on the serving thread, so no text may take long.
  assert.ok(chunkDocument(document).every((chunk) => chunk.text.length <= 1200));
}
