import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../base/log.ts';
import { createSharedParts, type SharedParts, withParts } from './shared-parts.ts';

/** The real extractor, which starts no process until used, and parts that cannot be opened. */
function partsWithoutDatabase() {
  const config = { of: () => assert.fail('nothing is configured') };
  const { extractor } = createSharedParts(config as never, silentLogger);
  const refuse = async () => {
    throw new Error('no database');
  };
  const shared: Pick<SharedParts, 'storage' | 'extractor' | 'embeddings' | 'reranker'> = {
    storage: refuse,
    embeddings: refuse,
    reranker: refuse,
    extractor,
  };
  return shared;
}

const document = { bytes: Buffer.from('text'), contentType: 'text/plain', mode: 'text' as const };

test('releases opened parts when another part or the user fails to open', async () => {
  const shared = partsWithoutDatabase();
  // Nobody else uses the part, so it closes with its last user.
  for (const fails of ['part', 'user']) {
    const { resource: extractor, release } = await shared.extractor();
    await assert.rejects(
      withParts(shared, async (parts) => {
        assert.equal(await parts.extractor(), extractor);
        if (fails === 'part') await parts.storage();
        throw new Error('no toolset');
      }),
      fails === 'part' ? /no database/ : /no toolset/,
    );
    await release();
    await assert.rejects(extractor.extract(document), { code: 'cancelled' });
  }
});

test('closing releases everything', async () => {
  const shared = partsWithoutDatabase();
  const { extractor, close } = await withParts(shared, async (parts, giveBack) => ({
    extractor: await parts.extractor(),
    close: giveBack,
  }));
  await close();
  await assert.rejects(extractor.extract(document), { code: 'cancelled' });
});
