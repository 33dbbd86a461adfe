import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { decodeBase64 } from './strict-base64.ts';

test('bytes survive a round trip', () => {
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
