import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { after, test } from 'node:test';
import { makeFolder } from '../../../test/support/child-program.ts';
import { findFiles } from './find-files.ts';

const root = makeFolder({ after });

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

write('.git/HEAD', 'ref');
write('.gitignore', 'build/\n*.log\n/secret.txt\n!kept.log\n');
write('docs/.gitignore', '!wanted.log\ndrafts\n');
for (const path of [
  ...['a.txt', 'a.log', 'kept.log', 'secret.txt', 'build/out.txt'],
  ...['docs/b.txt', 'docs/b.log', 'docs/wanted.log', 'docs/secret.txt', 'docs/drafts/c.txt'],
]) {
  write(path, 'text');
}

function found(folder: string, takesIgnored = false): string[] {
  const { files } = findFiles([join(root, folder)], { include: [], exclude: [], takesIgnored });
  return files.map(({ path }) => relative(root, path));
}

test('what .gitignore leaves out is not taken; the nearest file decides, and a slash binds to its folder', () => {
  assert.deepEqual(found('.'), ['a.txt', 'docs/b.txt', 'docs/secret.txt', 'docs/wanted.log', 'kept.log']);
});

test('in a repository the rules above the folder count, too', () => {
  assert.deepEqual(found('docs'), ['docs/b.txt', 'docs/secret.txt', 'docs/wanted.log']);
});

test('a folder that is ignored is taken when somebody names it', () => {
  assert.deepEqual(found('build'), ['build/out.txt']);
});

test('unless told otherwise', () => {
  assert.equal(found('.', true).length, 10);
});

test('what was ignored is counted', () => {
  assert.equal(findFiles([root], { include: [], exclude: [] }).passedOver.ignored, 5);
});
