import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createGlob } from './glob.ts';

const cases: [pattern: string, path: string, isMatch: boolean][] = [
  ['*.md', 'a.md', true],
  ['*.md', 'deep/er/a.md', true],
  ['*.md', 'a.mdx', false],
  ['*.{md,txt}', 'x/a.txt', true],
  ['docs/*.md', 'docs/a.md', true],
  ['docs/*.md', 'docs/x/a.md', false],
  ['docs/**/*.md', 'docs/a.md', true],
  ['docs/**/*.md', 'docs/x/y/a.md', true],
  ['docs/**', 'docs/x/y/a.md', true],
  ['**/draft-?.md', 'x/draft-1.md', true],
  ['draft-[0-9].md', 'draft-7.md', true],
  ['draft-[!0-9].md', 'draft-7.md', false],
  ['a+b(c).md', 'a+b(c).md', true],
  ['a.b', 'axb', false],
  ['/top.md', 'top.md', true],
  ['a-b.md', 'a-b.md', true],
  ['{', '{', true],
  ['[', '[', true],
];

for (const [pattern, path, isMatch] of cases) {
  test(`${pattern} ${isMatch ? 'matches' : 'does not match'} ${path}`, () => {
    assert.equal(createGlob(pattern)(path), isMatch);
  });
}
