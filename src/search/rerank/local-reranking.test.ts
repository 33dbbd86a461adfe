import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { makeFolder } from '../../../test/support/child-program.ts';
import { writeOverlapModel } from '../../../test/support/overlap-model.ts';
import { isCarrelError } from '../../base/errors.ts';
import { createLocalReranking, type LocalRerankingConfig } from './local-reranking.ts';
import { createReranker } from './reranker.ts';

const folder = makeFolder({ after });

const config: LocalRerankingConfig = {
  modelFolder: writeOverlapModel(join(folder, 'overlap')),
  cores: 2,
  queuedPairsMax: 200,
  pairTimeoutMs: 60_000,
  budgetMs: 60_000,
  queryTokensMax: 64,
  passageTokensMax: 256,
};
const hasCode = (code: string) => (error: unknown) => isCarrelError(error) && error.code === code;

describe('a local cross-encoder', () => {
  const provider = createLocalReranking(config);
  after(() => provider.close());

  test('gives a logit per passage, in order, and reports its device', async () => {
    const passages = ['the rent is due', 'when is the rent due', 'nothing of it'];
    assert.deepEqual(await provider.score('when is rent due', passages), [1, 2, -2]);
    assert.equal(provider.name, 'local:overlap');
    assert.equal(provider.device, 'cpu');
  });

  test('reads 64 tokens of a question and 256 of a passage', async () => {
    const [many] = await provider.score('apple '.repeat(100), [`${'pear '.repeat(250)}${'apple '.repeat(20)}`]);
    assert.equal(many, 64 * 6 - 2);
  });

  test('accepts texts of any length and content', async () => {
    const odd = ['', '\u0000\ud800', 'x'.repeat(1_000_000), '[SEP] [MASK] 漢字 🦊', ' '.repeat(5000)];
    for (const query of odd) {
      const logits = await provider.score(query, odd);
      assert.ok(logits.every(Number.isFinite), JSON.stringify(logits));
    }
    assert.deepEqual(await provider.score('nothing to read', []), []);
  });

  test('serves several searches at once, each with its own logits', async () => {
    const words = ['north', 'south', 'east', 'west'];
    const found = await Promise.all(words.map((word) => provider.score(word, words)));
    assert.deepEqual(
      found,
      words.map((word) => words.map((other) => (word === other ? -1 : -2))),
    );
  });

  test('does not block the serving thread', async () => {
    let turns = 0;
    const turning = setInterval(() => {
      turns += 1;
    }, 1);
    const passages = Array.from({ length: 60 }, (_, index) => `${'word '.repeat(250)}${index}`);
    await provider.score('is it blocked?', passages);
    clearInterval(turning);
    assert.ok(turns > 1, `${turns} turns`);
  });

  test('runs on one thread, however many pairs wait', async () => {
    let threads = 0;
    const count = () => {
      threads += 1;
    };
    process.on('worker', count);
    const own = createLocalReranking(config);
    await own.score(
      'query',
      Array.from({ length: 60 }, (_, index) => `passage ${index}`),
    );
    process.off('worker', count);
    await own.close();
    assert.equal(threads, 1);
  });

  test('a cancelled call does not affect others', async () => {
    const controller = new AbortController();
    const cancelled = provider.score(
      'to be cancelled',
      Array.from({ length: 40 }, (_, index) => `${'text '.repeat(200)}${index}`),
      controller.signal,
    );
    const other = provider.score('kept', ['kept']);
    controller.abort();
    await assert.rejects(cancelled, hasCode('cancelled'));
    assert.deepEqual(await other, [-1]);
  });

  test('refuses too many waiting pairs, with a retry time', async () => {
    const many = (word: string) => Array.from({ length: 150 }, (_, index) => `${word} ${index}`);
    const full = provider.score('full', many('full'));
    await assert.rejects(provider.score('more', many('more')), hasCode('too_many_in_flight'));
    assert.equal((await full).length, 150);
  });

  test('can be killed while scoring and restarts on demand', async () => {
    const working = provider.score('killed', ['text '.repeat(250), 'another']);
    await Promise.all([assert.rejects(working, hasCode('unavailable')), provider.close()]);
    assert.deepEqual(await provider.score('killed', ['not killed']), [-1]);
  });
});

test('pairs past the time limit have no logit, and cached ones take no time', async () => {
  const provider = createLocalReranking({ ...config, cores: 1, budgetMs: 0 });
  const passages = Array.from({ length: 60 }, (_, index) => `${'passage '.repeat(250)}${index}`);
  const known = (logits: readonly (number | undefined)[]) => logits.filter((logit) => logit !== undefined).length;
  const reranker = createReranker({ provider, weight: 1, calibration: [] });
  const { logits: first } = await reranker.score('budget', passages);
  assert.ok(known(first) > 0 && known(first) < 60, String(known(first)));
  assert.notEqual(first[0], undefined);
  const { logits: again } = await reranker.score('budget', passages);
  assert.ok(known(again) > known(first), `${known(first)}, then ${known(again)}`);
  await provider.close();
});

test('reports a missing model and one that is not a cross-encoder', async () => {
  const missing = createLocalReranking({ ...config, modelFolder: '/nowhere/model' });
  await assert.rejects(missing.score('text', ['text']), hasCode('unavailable'));
  const broken = writeOverlapModel(join(folder, 'broken'));
  writeFileSync(join(broken, 'model.onnx'), 'not a model');
  const other = createLocalReranking({ ...config, modelFolder: broken });
  await assert.rejects(other.score('text', ['text']), hasCode('unavailable'));
  await Promise.all([missing.close(), other.close()]);
});

test('WebAssembly gives the same logits if native code cannot be loaded', async () => {
  const provider = createLocalReranking({ ...config, device: 'wasm' });
  assert.deepEqual(await provider.score('when is rent due', ['the rent is due', 'nothing of it']), [1, -2]);
  assert.equal(provider.device, 'wasm');
  await provider.close();
});
