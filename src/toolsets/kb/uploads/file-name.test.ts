import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileNameInput } from './file-name.ts';

const accepts = (name: string): boolean => fileNameInput.safeParse(name).success;

test('names of every language are names', () => {
  for (const name of [
    'report.pdf',
    'Jahresbericht März.docx',
    '報告書.txt',
    '👩‍💻 notes.md',
    'a'.repeat(255),
    '.env',
    '...',
  ]) {
    assert.ok(accepts(name), name);
  }
});

test('rejects paths, control characters and deceptive names (contract §6)', () => {
  const hostile = [
    '',
    '  ',
    '.',
    '..',
    'a/b',
    '/etc/passwd',
    '..\\x',
    'C:\\x',
    'a\0b',
    'a\nb',
    'a\u007fb',
    'a\u202Efdp.exe',
  ];
  for (const name of [...hostile, 'a\u2028b', '\uD800', 'a'.repeat(256), 'ä'.repeat(128)]) {
    assert.ok(!accepts(name), JSON.stringify(name));
  }
});
