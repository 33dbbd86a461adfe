import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { createLeaseOwner, isGone } from './lease-owner.ts';

test('each holder has a name of its own, and one that lives is not gone', () => {
  assert.notEqual(createLeaseOwner(), createLeaseOwner());
  assert.equal(isGone(createLeaseOwner()), false);
});

test('the holder of a process that has ended is gone, and one of another machine is not known to be', async () => {
  const script = `import { createLeaseOwner } from ${JSON.stringify(import.meta.resolve('./lease-owner.ts'))};
    process.stdout.write(createLeaseOwner());`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script]);
  let owner = '';
  child.stdout.on('data', (part: Buffer) => {
    owner += part;
  });
  await once(child, 'close');
  assert.match(owner, / \d+ /);
  assert.equal(isGone(owner), true);
  assert.equal(isGone(owner.replace(/^\S+/, 'elsewhere/1/2')), false);
});

test('an id that a later process has got again does not keep a dead holder alive', () => {
  const [machine, pid, start, name] = createLeaseOwner().split(' ');
  assert.equal(isGone([machine, pid, String(Number(start) - 1), name].join(' ')), true);
});
