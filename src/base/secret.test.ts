import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maskAddress, registerAddress, scrubSecrets } from './secret.ts';

test('masks the login and query of an address, even if it is not a valid URL', () => {
  const cases: [string, string][] = [
    ['http://localhost:11434', 'http://localhost:11434'],
    ['https://api.example/v1/', 'https://api.example/v1/'],
    ['https://u:pw@host:1/p', 'https://[secret]@host:1/p'],
    ['https://token@host/p', 'https://[secret]@host/p'],
    ['http://u:p/w@host', 'http://[secret]@host'],
    ['http://u:p?w@host', 'http://[secret]'],
    ['http://u:p@w@host', 'http://[secret]@host'],
    ['u:pw@host:11434', '[secret]@host:11434'],
    ['https://host/?key=abc#x', 'https://host/?[secret]'],
    ['https://u:pw@host/?key=abc', 'https://[secret]@host/?[secret]'],
  ];
  for (const [address, masked] of cases) assert.equal(maskAddress(address), masked, address);
});

test('removes logins and named secrets from quoted URLs, and nothing else', () => {
  const cases: [string, string][] = [
    ['cannot reach "https://u:pw@host/p": refused', 'cannot reach "https://[secret]@host/p": refused'],
    ['GET https://host/?q=bees&api_key=k1&page=2', 'GET https://host/?q=bees&api_key=[secret]&page=2'],
    ['postgres://carrel:x@db/carrel?sslpassword=y', 'postgres://[secret]@db/carrel?sslpassword=[secret]'],
    ['see https://host/@name/post and mail me@host', 'see https://host/@name/post and mail me@host'],
  ];
  for (const [text, clean] of cases) assert.equal(scrubSecrets(text), clean);
  // Linear: each URL start is examined once.
  assert.equal(scrubSecrets('http://'.repeat(100_000)).length, 700_000);
});

test('removes the secrets of a registered address, decoded or not', () => {
  registerAddress('https://user:hidden%20word@host/path?any=unlikely-value');
  assert.equal(scrubSecrets('a hidden word, hidden%20word, unlikely-value'), 'a [secret], [secret], [secret]');
  registerAddress('no address at all');
});
