import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { makeFolder } from '../../../test/support/child-program.ts';
import { pause } from '../../../test/support/pause.ts';
import { size } from '../../../test/support/sizes.ts';
import { watchText } from '../../../test/support/watch-text.ts';
import { isCarrelError } from '../../base/errors.ts';
import { dotProduct } from '../../storage/vectors/quantise.ts';
import { bundledModelFolder } from './bundled-model.ts';
import { createLocalEmbeddings } from './local-embeddings.ts';

const config = { modelFolder: bundledModelFolder(), threads: 1, queuedTextsMax: 40, textTimeoutMs: 60_000 };
const hasCode = (code: string) => (error: unknown) => isCarrelError(error) && error.code === code;

test('the bundled model is the one that its README names', () => {
  const readme = readFileSync(join(config.modelFolder, 'README.md'), 'utf8');
  const rows = [...readme.matchAll(/^\| (\S+) \| (\d+) \| ([0-9a-f]{64}) \|$/gm)];
  assert.equal(rows.length, 5);
  for (const [, name = '', bytes, sum] of rows) {
    const content = readFileSync(join(config.modelFolder, name));
    assert.equal(content.length, Number(bytes), name);
    assert.equal(createHash('sha256').update(content).digest('hex'), sum, name);
  }
  assert.match(readFileSync(join(config.modelFolder, 'LICENSE'), 'utf8'), /MIT License/);
});

const provider = createLocalEmbeddings(config);
after(() => provider.close());

describe('the local model', () => {
  test('unit vectors are nearer for similar meanings', async () => {
    const [question, answer, other] = await provider.embed([
      'How do I reset my password?',
      'To choose new credentials, open the account page and press "Forgotten".',
      'The whale is the largest mammal in the sea.',
    ]);
    assert.ok(question && answer && other);
    assert.equal(question.length, provider.dimensions);
    for (const vector of [question, answer, other]) assert.ok(Math.abs(dotProduct(vector, vector) - 1) < 1e-5);
    assert.ok(dotProduct(question, answer) > dotProduct(question, other) + 0.02);
  });

  test('a text has the same vector in any batch', async () => {
    const [alone] = await provider.embed(['a short text']);
    const [, among] = await provider.embed(['word '.repeat(200), 'a short text', '']);
    assert.deepEqual(among, alone);
  });

  test('accepts texts of any length and content', async () => {
    const vectors = await provider.embed([
      '',
      '\u0000\ud800',
      'x'.repeat(1_000_000),
      '[SEP] [MASK] 漢字 🦊',
      ' '.repeat(5000),
    ]);
    for (const vector of vectors) assert.ok(vector.every(Number.isFinite));
  });

  test('queries go before waiting passages', async () => {
    const order: string[] = [];
    const passages = provider.embed(Array.from({ length: 12 }, (_, index) => `passage number ${index}`));
    const query = provider.embed(['query'], { purpose: 'query' });
    await Promise.all([passages.then(() => order.push('passages')), query.then(() => order.push('query'))]);
    assert.deepEqual(order, ['query', 'passages']);
  });

  test('refuses too many waiting texts at once, with a retry time', async () => {
    const full = provider.embed(Array.from({ length: config.queuedTextsMax }, () => 'text'));
    await assert.rejects(provider.embed(['one more']), hasCode('too_many_in_flight'));
    assert.equal((await full).length, config.queuedTextsMax);
  });

  test('drops a cancelled call and continues with the others', async () => {
    const controller = new AbortController();
    const cancelled = provider.embed(
      Array.from({ length: 20 }, () => 'long '.repeat(200)),
      { signal: controller.signal },
    );
    const other = provider.embed(['kept']);
    controller.abort();
    await assert.rejects(cancelled, hasCode('cancelled'));
    assert.equal((await other).length, 1);
    await assert.rejects(provider.embed(['late'], { signal: controller.signal }), hasCode('cancelled'));
  });

  test('can be killed while working and restarts on demand', async () => {
    const working = provider.embed(['text '.repeat(500)]);
    await Promise.all([assert.rejects(working, hasCode('unavailable')), provider.close()]);
    assert.equal((await provider.embed(['again'])).length, 1);
  });
});

test('several threads give the same vectors as one, in order', async () => {
  const texts = Array.from(
    { length: size({ quick: 10, full: 40 }) },
    (_, index) => `${'word '.repeat(index * 5)}number ${index}`,
  );
  const threads = size({ quick: 2, full: 3 });
  const several = createLocalEmbeddings({ ...config, threads });
  const [expected, found] = await Promise.all([provider.embed(texts), several.embed(texts)]);
  assert.deepEqual(found, expected);
  await several.close();
});

test('gives up a slow text and ends its thread only outside native code', async () => {
  const slow = createLocalEmbeddings({ ...config, textTimeoutMs: 20 });
  await assert.rejects(slow.embed(['text '.repeat(500)]), hasCode('unavailable'));
  await slow.close();
});

/** A separate process that embeds until told to end, then prints its number of vectors. */
function startEmbedding(atEnd: string, textTimeoutMs: number) {
  const script = `
    import { createLocalEmbeddings } from './src/search/models/local-embeddings.ts';
    const local = createLocalEmbeddings({ ...${JSON.stringify(config)}, textTimeoutMs: ${textTimeoutMs} });
    await local.embed(['text']);
    const texts = Array.from({ length: 3 }, (_, number) => 'text '.repeat(500) + number);
    const embedded = local.embed(texts);
    ${atEnd}`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: new URL('../../../', import.meta.url),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return { child, exited: once(child, 'exit'), said: watchText(child.stdout) };
}

test('exiting while native code runs does not crash', async () => {
  const { exited } = startEmbedding(`embedded.catch(() => {}); setTimeout(() => process.exit(0), 50);`, 60_000);
  assert.deepEqual(await exited, [0, null]);
});

test('a timeout excludes time in which the process is suspended', async () => {
  const textTimeoutMs = 800;
  const end = `console.log('embedding'); console.log((await embedded).length, 'vectors'); await local.close();`;
  const { child, exited, said } = startEmbedding(end, textTimeoutMs);
  await said.waitForOutput(/embedding/);
  child.kill('SIGSTOP');
  await pause(1.5 * textTimeoutMs);
  child.kill('SIGCONT');
  await said.waitForOutput(/3 vectors/);
  assert.deepEqual(await exited, [0, null]);
});

test('reports a missing model instead of crashing', async () => {
  const missing = createLocalEmbeddings({ ...config, modelFolder: '/nowhere/model' });
  await assert.rejects(missing.embed(['text']), hasCode('unavailable'));
  assert.throws(() => missing.dimensions, hasCode('invalid_config'));
  assert.deepEqual(await missing.embed([]), []);
});

test('WebAssembly gives the same vectors if native code cannot be loaded', async () => {
  const wasm = createLocalEmbeddings({ ...config, device: 'wasm' });
  const [expected, found] = await Promise.all([provider.embed(sentences), wasm.embed(sentences)]);
  assert.deepEqual([provider.device, wasm.device], ['cpu', 'wasm']);
  // Float sums in another order sometimes round an activation to the next byte, so single texts differ a little.
  const cosines = expected.map((vector, place) => dotProduct(vector, found[place] ?? new Float32Array()));
  const mean = cosines.reduce((sum, cosine) => sum + cosine, 0) / cosines.length;
  assert.ok(mean >= 0.999, `mean ${mean}`);
  assert.ok(Math.min(...cosines) >= 0.99, `least ${Math.min(...cosines)}`);
  await wasm.close();
});

const sentences = [
  'How do I reset my password?',
  'Ein kurzer deutscher Satz über Katzen.',
  'const total = items.reduce((sum, item) => sum + item.price, 0);',
  'The whale is the largest mammal in the sea, and it feeds on the smallest animals there are.',
  'Rolling updates replace one machine at a time, so that the service answers all the while.',
  'She moved to Lisbon in March and started to learn to play the cello.',
  '',
];

test("the model's runtime sends no telemetry", async (context) => {
  const folder = makeFolder(context);
  const home = join(folder, 'home');
  mkdirSync(home);
  const program = join(folder, 'embed.mjs');
  writeFileSync(
    program,
    `import { createLocalEmbeddings } from '${new URL('./local-embeddings.ts', import.meta.url)}';
    const provider = createLocalEmbeddings(${JSON.stringify(config)});
    await provider.embed(['a text']);
    await provider.close();`,
  );
  // A clean environment: the runtime is silent anyway if a variable names a build server.
  await promisify(execFile)(process.execPath, [program], { env: { HOME: home } });
  assert.deepEqual(readdirSync(home), []);
});
