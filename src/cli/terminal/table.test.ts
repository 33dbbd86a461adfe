import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Column, renderTable } from './table.ts';
import { truncate, widthOf, wrap } from './text-width.ts';

const columns: Column[] = [
  { title: 'SCORE', align: 'right' },
  { title: 'PATH', weight: 1, keepEnd: true },
  { title: 'PAGE' },
  { title: 'PASSAGE', weight: 2, lines: 2 },
];
const style = (text: string): string => text;

test('fits a table into the terminal, keeps the end of paths and wraps passages', () => {
  const rows = [
    ['0.913', '~/Documents/contracts/2024/harbour-dues.pdf', '12', 'Dues are paid by the ton. '.repeat(9)],
    ['0.1', 'a.md', '', 'Short.'],
  ];
  for (const width of [40, 60, 80, 120, 200]) {
    const lines = renderTable(columns, rows, { totalWidth: width, style }).split('\n');
    for (const line of lines) assert.ok(widthOf(line) <= width, `${width}: ${line}`);
    assert.match(lines[1] ?? '', /ues\.pdf +12 +Dues/);
  }
  assert.equal(
    renderTable(columns, [['1', 'a.md', '', 'Short.']], { totalWidth: 80, style }),
    'SCORE  PATH  PASSAGE\n    1  a.md  Short.\n',
    'a column that says nothing is left out',
  );
});

test('counts wide characters as two columns, and combining ones as none', () => {
  assert.equal(widthOf('港の灯台'), 8);
  assert.equal(widthOf('e\u0301a'), 2);
  assert.equal(widthOf('👩‍👩‍👧x'), 3);
  assert.equal(truncate('港の灯台', 5), '港の…');
  const table = renderTable(
    [{ title: 'A' }, { title: 'B' }],
    [
      ['港', 'x'],
      ['ab', 'y'],
    ],
    { totalWidth: 40, style },
  );
  assert.equal(table, 'A   B\n港  x\nab  y\n');
});

test("hostile cells can't break or colour a line", () => {
  const table = renderTable([{ title: 'A' }], [['x\n\u001b[31my\u202e']], { totalWidth: 40, style });
  assert.equal(table, 'A\nx \ufffd[31my\ufffd\n');
});

test('keeps words whole if possible, and always terminates', () => {
  assert.deepEqual(wrap('one two three four', 9, 5), ['one two', 'three', 'four']);
  assert.deepEqual(wrap('abcdefghij', 4, 2), ['abcd', 'efg…']);
  assert.equal(wrap('港港', 1, 9)[0], '港', 'too narrow for anything');
  assert.deepEqual(wrap('', 9, 2), ['']);
});
