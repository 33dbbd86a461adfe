import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { bundledRerankerFolder } from '../reranking/bundled-reranker.ts';
import { withoutWeights } from './mapped-weights.ts';
import { loadOnnxRuntime } from './onnx-runtime.ts';

const folder = mkdtempSync(join(tmpdir(), 'carrel-weights-'));
after(() => rmSync(folder, { recursive: true }));
const modelFolder = bundledRerankerFolder();
const file = join(modelFolder, 'model.onnx');

/** Reranking takes at most 120 MB: no thread has a copy of the weights that are looked up in the file. */
test('a model whose weights are mapped from its file gives what the whole file gives', async () => {
  const pieces = [101, 2043, 2515, 1996, 9278, 102, 9278, 2003, 2349, 102];
  const runtime = await loadOnnxRuntime({ modelFolder, device: 'cpu' });
  const mapped = await runtime.run({ pieces });
  if (process.platform === 'linux') assert.ok(readFileSync('/proc/self/maps', 'utf8').includes(file));

  const whole = await InferenceSession.create(file, { intraOpNumThreads: 1 });
  const tensor = (values: number[]) => new Tensor('int64', BigInt64Array.from(values, BigInt), [1, values.length]);
  const none = pieces.map(() => 0);
  const output = await whole.run({
    input_ids: tensor(pieces),
    attention_mask: tensor(none.map(() => 1)),
    token_type_ids: tensor(none),
  });
  assert.deepEqual(mapped, output['logits']?.data);
  assert.ok(withoutWeights(file).length < statSync(file).size / 50);
});

test('a file that is cut short or holds something else is refused', () => {
  const head = readFileSync(file).subarray(0, 2_000_000);
  for (const [name, content] of Object.entries({ cut: head, text: 'not a model', long: Buffer.alloc(64, 0xff) })) {
    const path = join(folder, name);
    writeFileSync(path, content);
    assert.throws(
      () => withoutWeights(path),
      /file ends too soon|longer than its message|not a message|too long/,
      name,
    );
  }
});
