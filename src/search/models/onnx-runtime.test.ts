import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { bundledRerankerFolder } from '../rerank/bundled-reranker.ts';
import { loadOnnxRuntime } from './onnx-runtime.ts';

/** Reranking takes at most 120 MB: threads share the weights. */
test('weights are mapped from their file', { skip: process.platform !== 'linux' }, async () => {
  const modelFolder = bundledRerankerFolder();
  const runtime = await loadOnnxRuntime({ modelFolder, device: 'cpu' });
  assert.equal((await runtime.run({ tokens: [101, 2043, 2515, 102] })).length, 1);
  assert.ok(readFileSync('/proc/self/maps', 'utf8').includes(join(modelFolder, 'model.onnx.data')));
});

// WebAssembly rounds int8 products differently.
test('WebAssembly gives nearly the same results as native code', async () => {
  const modelFolder = bundledRerankerFolder();
  const tokens = [101, 2043, 2515, 1996, 9278, 102, 9278, 2003, 2349, 102];
  const [native, wasm] = await Promise.all(
    (['cpu', 'wasm'] as const).map(async (device) => (await loadOnnxRuntime({ modelFolder, device })).run({ tokens })),
  );
  assert.ok(Math.abs((native?.[0] ?? 0) - (wasm?.[0] ?? 9)) < 0.1, `${native} ${wasm}`);
});
