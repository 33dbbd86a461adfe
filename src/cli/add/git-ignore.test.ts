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

function found(folder: string, includesIgnored = false): string[] {
  const { files } = findFiles([join(root, folder)], { include: [], exclude: [], includesIgnored });
  return files.map(({ path }) => relative(root, path));
}

test('the nearest .gitignore decides, and a slash anchors a pattern to its folder', () => {
  assert.deepEqual(found('.'), ['a.txt', 'docs/b.txt', 'docs/secret.txt', 'docs/wanted.log', 'kept.log']);
});

test('in a repository, rules of parent folders apply', () => {
  assert.deepEqual(found('docs'), ['docs/b.txt', 'docs/secret.txt', 'docs/wanted.log']);
});

test('includes an ignored folder that is named explicitly', () => {
  assert.deepEqual(found('build'), ['build/out.txt']);
});

test('includes ignored files on request', () => {
  assert.equal(found('.', true).length, 10);
});

test('counts ignored files', () => {
  assert.equal(findFiles([root], { include: [], exclude: [] }).skipped.ignored, 5);
});
