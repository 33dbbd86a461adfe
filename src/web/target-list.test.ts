import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CarrelError } from '../base/errors.ts';
import { parseAddress } from './address-rules.ts';
import { canonicalHost, parseTargetList, type Target } from './target-list.ts';

function target(host: string, port = 443, address?: string): Target {
  const parsed = parseAddress(address ?? host);
  return { host, port, ...(parsed === undefined ? {} : { address: parsed }) };
}

function refusalOf(entry: string): (error: unknown) => boolean {
  return (error) =>
    error instanceof CarrelError && error.code === 'invalid_config' && error.message.includes(`"${entry}"`);
}

test('a name matches itself and nothing similar (T075)', () => {
  const list = parseTargetList(['EXAMPLE.com.']);
  assert.equal(list.matches(target('example.com')), true);
  for (const host of ['example.com.evil.tld', 'evil-example.com', 'sub.example.com', 'xample.com', 'com']) {
    assert.equal(list.matches(target(host)), false, host);
  }
});

test('a star matches subdomains, not the name itself', () => {
  const list = parseTargetList(['*.example.com']);
  assert.equal(list.matches(target('a.b.example.com')), true);
  assert.equal(list.matches(target('example.com')), false);
  assert.equal(list.matches(target('evilexample.com')), false);
});

test('an entry with a port matches only that port', () => {
  const list = parseTargetList(['docs.example:8080', '[fd00::1]:9090', '10.0.0.1:81']);
  assert.equal(list.matches(target('docs.example', 8080)), true);
  assert.equal(list.matches(target('docs.example', 443)), false);
  assert.equal(list.matches(target('fd00::1', 9090)), true);
  assert.equal(list.matchesWithPort(target('10.0.0.1', 81)), true);
  assert.equal(parseTargetList(['10.0.0.1']).matchesWithPort(target('10.0.0.1', 81)), false);
});

test('a literal matches that host in all spellings, but no name that resolves to it', () => {
  const list = parseTargetList(['0x7f.1', '::1', '[FD00::0001]']);
  assert.equal(list.hasRanges, false);
  for (const host of ['127.0.0.1', '::ffff:7f00:1', '::1', 'fd00::1'])
    assert.equal(list.matches(target(host)), true, host);
  assert.equal(list.matches(target('intranet.example', 443, '127.0.0.1')), false);
  assert.equal(list.matches(target('127.0.0.2')), false);
});

test('a range matches literals and resolved addresses, and a range with a port only that port', () => {
  const list = parseTargetList(['10.0.0.0/8', '[fd00::/8]:81', '192.168.0.0/16:82']);
  assert.equal(list.hasRanges, true);
  assert.equal(list.matches(target('10.9.9.9')), true);
  assert.equal(list.matches(target('intranet.example', 443, '10.9.9.9')), true);
  assert.equal(list.matches(target('intranet.example')), false);
  assert.equal(list.matches(target('11.0.0.1')), false);
  assert.deepEqual(
    [81, 82].map((port) => list.matches(target('fd12::1', port))),
    [true, false],
  );
  assert.deepEqual(
    [81, 82].map((port) => list.matches(target('192.168.1.1', port))),
    [false, true],
  );
});

test('ignores blank entries and quotes invalid ones in a configuration error', () => {
  assert.equal(parseTargetList(['', ' ']).isEmpty, true);
  for (const text of [
    'http://example.com',
    'a b',
    'example.com:0',
    'example.com:65536',
    '10.0.0.0/40',
    '*',
    '*.10.0.0.1',
    'a*b.com',
    'user@host',
    'a..b',
  ]) {
    assert.throws(() => parseTargetList([text]), refusalOf(text), text);
  }
});

test('a canonical host has no brackets, no trailing dot and no invalid DNS label', () => {
  assert.equal(canonicalHost('example.com.'), 'example.com');
  assert.equal(canonicalHost('[::1]'), '::1');
  for (const host of [
    '',
    '.',
    'a..b',
    'example.com..',
    '1.2.3.4..',
    'a*b',
    `${'a'.repeat(64)}.com`,
    'ab.'.repeat(100),
  ]) {
    assert.equal(canonicalHost(host), undefined, host);
  }
});
