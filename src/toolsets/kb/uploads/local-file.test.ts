import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { makeFolder } from '../../../../test/support/child-program.ts';
import { openLocalFile } from './local-file.ts';

const below = (...configured: string[]) => ({ configured, client: [] });

function makeTree(t: TestContext) {
  const folder = makeFolder(t);
  const root = join(folder, 'root');
  mkdirSync(join(root, 'inner'), { recursive: true });
  mkdirSync(join(folder, 'root-sibling'));
  writeFileSync(join(root, 'inner', 'a.txt'), 'inside');
  writeFileSync(join(folder, 'secret.txt'), 'outside');
  writeFileSync(join(folder, 'root-sibling', 'b.txt'), 'outside');
  return { folder, root };
}

test('reads a file in an allowed folder, also through a link inside it', async (t) => {
  const { root } = makeTree(t);
  symlinkSync(join(root, 'inner', 'a.txt'), join(root, 'link.txt'));
  for (const path of [join(root, 'inner', 'a.txt'), join(root, 'link.txt'), `${root}/inner/../inner/a.txt`]) {
    const file = await openLocalFile(path, below('/nowhere', root));
    assert.deepEqual([file.filename, file.size], ['a.txt', 6]);
    assert.equal(await textOf(file.content), 'inside');
    await file.close();
  }
});

test('an allowed folder may be a link itself', async (t) => {
  const { folder, root } = makeTree(t);
  symlinkSync(root, join(folder, 'alias'));
  const file = await openLocalFile(join(folder, 'alias', 'inner', 'a.txt'), below(join(folder, 'alias')));
  await file.close();
});

test('files outside the allowed folders appear missing, however they are reached', async (t) => {
  const { folder, root } = makeTree(t);
  symlinkSync(join(folder, 'secret.txt'), join(root, 'out.txt'));
  symlinkSync(folder, join(root, 'up'));
  const paths = [
    join(folder, 'secret.txt'),
    join(root, 'out.txt'),
    join(root, 'up', 'secret.txt'),
    `${root}/../secret.txt`,
    join(folder, 'root-sibling', 'b.txt'),
    join(root, 'missing.txt'),
    '/etc/passwd',
    root,
  ];
  const messages = new Set<string>();
  for (const path of paths) {
    await assert.rejects(openLocalFile(path, below(root)), (error: Error & { code?: string }) => {
      messages.add(error.message);
      return error.code === 'path_not_allowed';
    });
  }
  assert.equal(messages.size, 1);
});

test('rejects folders, pipes, devices and relative paths', async (t) => {
  const { root } = makeTree(t);
  execFileSync('mkfifo', [join(root, 'pipe')]);
  for (const path of [join(root, 'inner'), join(root, 'pipe'), 'inner/a.txt', 'a\0b']) {
    await assert.rejects(openLocalFile(path, below(root)), { code: 'path_not_allowed' });
  }
  await assert.rejects(openLocalFile('/dev/zero', below('/dev')), { code: 'path_not_allowed' });
});

test('rejects a file that grows while it is read', async (t) => {
  const { root } = makeTree(t);
  const path = join(root, 'inner', 'a.txt');
  const file = await openLocalFile(path, below(root));
  appendFileSync(path, ' and more');
  await assert.rejects(textOf(file.content), { code: 'upload_conflict' });
  await file.close();
});

async function textOf(content: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of content) parts.push(part);
  return Buffer.concat(parts).toString();
}
