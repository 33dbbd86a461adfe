import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../base/log.ts';
import { createSharedServices, type SharedServices, withServices } from './shared-services.ts';

/** The real extractor, which starts no process until used, and services that cannot be opened. */
function servicesWithoutDatabase() {
  const config = { of: () => assert.fail('nothing is configured') };
  const { extractor } = createSharedServices(config as never, silentLogger);
  const refuse = async () => {
    throw new Error('no database');
  };
  const shared: Pick<SharedServices, 'storage' | 'extractor' | 'embeddings' | 'reranker'> = {
    storage: refuse,
    embeddings: refuse,
    reranker: refuse,
    extractor,
  };
  return shared;
}

const document = { bytes: Buffer.from('text'), contentType: 'text/plain', mode: 'text' as const };

test('releases opened services when another service, or the code that uses them, fails', async () => {
  const shared = servicesWithoutDatabase();
  // Nobody else uses the extractor, so it closes with its last user.
  for (const fails of ['service', 'user']) {
    const { resource: extractor, release } = await shared.extractor();
    await assert.rejects(
      withServices(shared, async (services) => {
        assert.equal(await services.extractor(), extractor);
        if (fails === 'service') await services.storage();
        throw new Error('no toolset');
      }),
      fails === 'service' ? /no database/ : /no toolset/,
    );
    await release();
    await assert.rejects(extractor.extract(document), { code: 'cancelled' });
  }
});

test('closing releases everything', async () => {
  const shared = servicesWithoutDatabase();
  const { extractor, close } = await withServices(shared, async (services, giveBack) => ({
    extractor: await services.extractor(),
    close: giveBack,
  }));
  await close();
  await assert.rejects(extractor.extract(document), { code: 'cancelled' });
});
