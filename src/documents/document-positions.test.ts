import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPositions } from './document-positions.ts';
import { finishText } from './text/finish-text.ts';

test('reports the page of an offset and the pages of a span', () => {
  const text = 'one\n\ntwo\n\nthree';
  const positions = createPositions({
    text,
    marks: [
      { offset: 0, page: 1 },
      { offset: 5, page: 2 },
      { offset: 10, page: 4 },
    ],
  });
  assert.deepEqual(
    [positions.at(0), positions.at(4), positions.at(5), positions.at(12)],
    [{ page: 1 }, { page: 1 }, { page: 2 }, { page: 4 }],
  );
  assert.deepEqual(positions.of({ start: 5, end: 15 }), { page: 2, pageEnd: 4 });
  assert.deepEqual(positions.of({ start: 5, end: 8 }), { page: 2 });
});

test('reports original line numbers despite removed lines and characters', () => {
  const raw = '\n \n  first\u200b\nsec\u00adond\n\nlast\n\n';
  const finished = finishText(raw, [{ offset: 0, line: 1 }], 1000);
  assert.equal(finished.text, '  first\nsecond\n\nlast');
  const positions = createPositions(finished);
  const lineOf = (word: string) => positions.at(finished.text.indexOf(word)).line;
  assert.deepEqual([lineOf('first'), lineOf('second'), lineOf('last')], [3, 4, 6]);
  assert.deepEqual(positions.of({ start: 0, end: finished.text.length }), { line: 3, lineEnd: 6 });
});

test('moves marks when characters are removed, and drops marks beyond the end', () => {
  const finished = finishText(
    '  a\u200bb\n\nc\u200bd\n\ntoo long',
    [
      { offset: 2, page: 1 },
      { offset: 7, page: 2 },
      { offset: 12, page: 3 },
    ],
    11,
  );
  assert.equal(finished.text, 'ab\n\ncd');
  assert.deepEqual(finished.marks, [
    { offset: 0, page: 1 },
    { offset: 4, page: 2 },
  ]);
});

test('reports the file of an offset in an archive, and no page for a file without pages', () => {
  const positions = createPositions({
    text: '# a\n\nAAAA\n\n# b\n\nBBBB',
    marks: [{ offset: 5, page: 1 }, { offset: 11 }, { offset: 16, line: 1 }],
    members: [
      { name: 'a', kind: 'pdf', headingStart: 0, start: 5, end: 9 },
      { name: 'b', kind: 'text', headingStart: 11, start: 16, end: 20 },
    ],
  });
  assert.deepEqual(positions.at(6), { page: 1, member: 'a' });
  assert.deepEqual(positions.at(12), {});
  assert.deepEqual(positions.at(17), { line: 1, member: 'b' });
});
