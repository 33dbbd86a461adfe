import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countNodes, findNode, outlineOf } from './outline.ts';

test('a text without headings is one node, at any length', () => {
  const root = outlineOf('just words 😀', 6);
  assert.deepEqual([root.char_start, root.char_end, countNodes(root)], [0, 12, 1]);
});

test("headings nest by level, equal siblings are numbered, code fences don't count", () => {
  const text = '# A\n\nx\n\n```\n# not\n```\n\n### Deep\n\n## B\n\n# A\n\ny';
  const root = outlineOf(text, 6);
  assert.deepEqual(
    root.children.map(({ node_id: id }) => id),
    ['a', 'a-2'],
  );
  assert.deepEqual(
    root.children[0]?.children.map(({ node_id: id }) => id),
    ['a/deep', 'a/b'],
  );
  const last = findNode(root, 'a-2');
  assert.equal(text.slice(last?.char_start, last?.char_end), '# A\n\ny');
  assert.equal(findNode(root, 'nothing'), undefined);
});

test('the sections of a level cover the text from the first heading on, without overlap', () => {
  const text = 'intro\n\n## One\n\na\n\n# Two\n\nb\n\n## Three\n\nc';
  const parts = outlineOf(text, 1).children;
  assert.deepEqual(
    parts.map(({ char_start: start, char_end: end }) => text.slice(start, end)).join(''),
    text.slice('intro\n\n'.length),
  );
});
