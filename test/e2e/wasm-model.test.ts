import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { makeFolder } from '../support/child-program.ts';

const folder = makeFolder({ after });

test('the built program runs its model in WebAssembly where onnxruntime-node is not installed', async () => {
  // No packages are available here, only the contents of dist.
  for (const part of ['bin', 'dist', 'package.json']) cpSync(part, join(folder, part), { recursive: true });
  symlinkSync(resolve('models'), join(folder, 'models'));
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [join(folder, 'bin/carrel.js'), 'doctor', 'context', '--json', '--port', '0', '--data-dir', join(folder, 'data')],
    { cwd: folder },
  );
  const { checks } = JSON.parse(stdout);
  const model = checks.find(({ name }: { name: string }) => name === 'model');
  assert.equal(model.ok, true);
  assert.match(model.found, /^local:carrel-embedding-1, 384 dimensions, on wasm/);
});
