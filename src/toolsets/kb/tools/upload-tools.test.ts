import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { decodeBase64, fileNameInput } from './upload-tools.ts';

test('decodes base64 of any length', () => {
  for (let length = 1; length < 70; length += 1) {
    const bytes = randomBytes(length);
    assert.deepEqual(decodeBase64(bytes.toString('base64'), 'data'), bytes);
  }
});

test('rejects everything that Node would silently repair (contract §6)', () => {
  const faulty = [
    '',
    '=',
    'YQ',
    'YQ=',
    'YQ==\n',
    ' YQ==',
    'Y Q==',
    'YR==',
    'YWI_',
    'YWI-',
    'YQ==YQ==',
    'YQ===',
    'data:YQ==',
    'é===',
    '!!!!',
  ];
  for (const text of faulty)
    assert.throws(() => decodeBase64(text, 'data'), { code: 'invalid_arguments' }, JSON.stringify(text));
});

const accepts = (name: string): boolean => fileNameInput.safeParse(name).success;

test('accepts names in any language', () => {
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
