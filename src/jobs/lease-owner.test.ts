import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { createLeaseOwner, hasExited } from './lease-owner.ts';

test('each owner has a unique name, and a running one has not exited', () => {
  assert.notEqual(createLeaseOwner(), createLeaseOwner());
  assert.equal(hasExited(createLeaseOwner()), false);
});

test('reports an ended process as exited, but never a process on another machine', async () => {
  const script = `import { createLeaseOwner } from ${JSON.stringify(import.meta.resolve('./lease-owner.ts'))};
    process.stdout.write(createLeaseOwner());`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script]);
  let owner = '';
  child.stdout.on('data', (part: Buffer) => {
    owner += part;
  });
  await once(child, 'close');
  assert.match(owner, / \d+ /);
  assert.equal(hasExited(owner), true);
  assert.equal(hasExited(owner.replace(/^\S+/, 'elsewhere/1/2')), false);
});

test('a reused process id does not keep a dead owner alive', () => {
  const [machine, pid, start, name] = createLeaseOwner().split(' ');
  assert.equal(hasExited([machine, pid, String(Number(start) - 1), name].join(' ')), true);
});
