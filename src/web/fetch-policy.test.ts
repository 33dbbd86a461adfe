import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ErrorCode } from '../base/errors.ts';
import { type Address, parseAddress } from './address-rules.ts';
import { checkAddresses, checkUrl, type FetchPolicy } from './fetch-policy.ts';
import { parseTargetList } from './target-list.ts';

function refuses(url: string, code: ErrorCode, policy: FetchPolicy = {}): void {
  assert.throws(() => checkUrl(url, policy), { code }, url);
}

function addresses(...texts: string[]): Address[] {
  return texts.map((text) => parseAddress(text)).filter((address) => address !== undefined);
}

test('allows only http and https, and only the schemes of the policy (T063)', () => {
  for (const url of [
    'file:///etc/passwd',
    'ftp://e.example/',
    'gopher://e.example',
    'data:,x',
    'javascript:1',
    'ws://e.example',
    'blob:http://e.example/1',
    'jar:http://e.example!/',
  ]) {
    refuses(url, 'scheme_not_allowed');
  }
  refuses('http://e.example/', 'scheme_not_allowed', { schemes: ['https'] });
  assert.equal(checkUrl('HTTPS://E.example/a#b', { schemes: ['https'] }).url.href, 'https://e.example/a');
});

test('rejects invalid URLs, impossible hosts and overlong URLs', () => {
  for (const url of [
    '',
    'example.com',
    '//example.com',
    'http://',
    'http://a..b/',
    'http://e.example:65536/',
    'http://%00/',
    'http://[::1%25lo]/',
    'http://a*b/',
    'http://1.2.3.4../',
    `http://e.example/${'a'.repeat(9000)}`,
  ]) {
    refuses(url, 'invalid_url');
  }
});

test('rejects credentials, even empty passwords', () => {
  for (const url of ['http://user:pass@e.example/', 'http://user@e.example/', 'http://:x@e.example/']) {
    refuses(url, 'credentials_in_url');
  }
});

test('allows web ports; refuses services and low ports (T076)', () => {
  for (const port of [1, 22, 25, 53, 79, 81, 110, 442, 465, 993, 1023, 2375, 3306, 5432, 6379, 9200, 11211, 27017]) {
    refuses(`http://e.example:${port}/`, 'port_not_allowed');
  }
  refuses('http://e.example:0/', 'port_not_allowed');
  for (const port of [80, 443, 1024, 3000, 8000, 8080, 8443, 65535]) checkUrl(`http://e.example:${port}/`, {});
  refuses('http://e.example:8080/', 'port_not_allowed', { ports: [80, 443] });
});

test('opens a port only for the host that is allowed with it', () => {
  const policy = { allowPrivate: parseTargetList(['intra.example:5432', 'other.example']) };
  assert.equal(checkUrl('http://intra.example:5432/', policy).port, 5432);
  refuses('http://other.example:5432/', 'port_not_allowed', policy);
});

test('checks literals in every spelling (T064, T065)', () => {
  for (const host of [
    '127.0.0.1',
    '2130706433',
    '0x7f000001',
    '017700000001',
    '0177.0.0.1',
    '127.1',
    '0',
    '127.0.0.1.',
    '①②⑦.⓪.⓪.①',
    '127。0。0。1',
    '%31%32%37.0.0.1',
    '[::1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '169.254.169.254',
    'localhost',
    'LOCALHOST.',
    'loc%61lhost',
    'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ',
    'local\u200bhost',
    'a.localhost',
  ]) {
    refuses(`http://${host}/`, 'private_network_blocked');
  }
});

test('one forbidden address refuses the whole name (T068)', () => {
  const checked = checkUrl('http://mixed.example/', {});
  checkAddresses(checked, addresses('93.184.216.34', '2606:2800:220:1::1'), {});
  for (const bad of ['10.0.0.5', '::1', '0.0.0.0', '169.254.169.254', '64:ff9b::a00:5']) {
    assert.throws(() => checkAddresses(checked, addresses('93.184.216.34', bad), {}), {
      code: 'private_network_blocked',
    });
  }
});

test('allows a private target listed by name, address or range', () => {
  for (const entry of ['10.0.0.5:8080', '10.0.0.5', '10.0.0.0/8']) {
    const policy = { allowPrivate: parseTargetList([entry]) };
    checkUrl('http://10.0.0.5:8080/', policy);
    refuses('http://127.0.0.1:8080/', 'private_network_blocked', policy);
  }
  const byName = { allowPrivate: parseTargetList(['intra.example']) };
  checkAddresses(checkUrl('http://intra.example/', byName), addresses('10.0.0.5'), byName);
  assert.throws(() => checkAddresses(checkUrl('http://x.example/', byName), addresses('10.0.0.5'), byName), {
    code: 'private_network_blocked',
  });
});

test('blocks metadata addresses with any settings (T065)', () => {
  const everything: FetchPolicy = {
    allowPrivateNetworks: true,
    allowPrivate: parseTargetList(['0.0.0.0/0', '::/0', 'metadata.google.internal', '169.254.169.254:80']),
  };
  for (const host of [
    '169.254.169.254',
    '169.254.170.2',
    '168.63.129.16',
    '100.100.100.200',
    '192.0.0.192',
    '[fd00:ec2::254]',
    '[fe80::1]',
    '[64:ff9b::a9fe:a9fe]',
    '[2002:a9fe:a9fe::]',
    '[::ffff:169.254.169.254]',
  ]) {
    refuses(`http://${host}/`, 'private_network_blocked', everything);
  }
  const named = checkUrl('http://metadata.google.internal/', everything);
  assert.throws(() => checkAddresses(named, addresses('169.254.169.254'), everything), {
    code: 'private_network_blocked',
  });
});

test('private networks are loopback, RFC 1918, CGNAT and unique local, and no other special range', () => {
  const policy = { allowPrivateNetworks: true };
  for (const host of ['127.0.0.1', '10.1.1.1', '100.64.0.1', '[fd12::1]', 'localhost'])
    checkUrl(`http://${host}/`, policy);
  for (const host of ['0.0.0.0', '224.0.0.1', '[::7f00:1]', '[fec0::1]']) {
    refuses(`http://${host}/`, 'private_network_blocked', policy);
  }
});

test('a restriction allows only its hosts and opens nothing private (T073, T075)', () => {
  const onlyHosts = parseTargetList(['docs.example', '93.184.216.0/24', '10.0.0.5']);
  checkUrl('http://docs.example/', { onlyHosts });
  checkUrl('http://93.184.216.34/', { onlyHosts });
  refuses('http://10.0.0.5/', 'private_network_blocked', { onlyHosts });
  refuses('http://8.8.8.8/', 'host_not_allowed', { onlyHosts });
  refuses('http://docs.example.evil.tld/', 'host_not_allowed', { onlyHosts: parseTargetList(['docs.example']) });
  const byAddress = checkUrl('http://other.example/', { onlyHosts });
  checkAddresses(byAddress, addresses('93.184.216.34'), { onlyHosts });
  assert.throws(() => checkAddresses(byAddress, addresses('8.8.8.8'), { onlyHosts }), { code: 'host_not_allowed' });
  checkUrl('http://any.example/', { onlyHosts: parseTargetList([]) });
});

test('a listed name may resolve to any public address', () => {
  const onlyHosts = parseTargetList(['docs.example', '10.0.0.0/8']);
  checkAddresses(checkUrl('http://docs.example/', { onlyHosts }), addresses('93.184.216.34'), { onlyHosts });
});

test('a refused target is refused by name and address even if allowed (T076)', () => {
  const policy: FetchPolicy = {
    allowPrivateNetworks: true,
    refused: parseTargetList(['127.0.0.0/8:8737', 'db.example']),
  };
  refuses('http://127.0.0.1:8737/', 'host_not_allowed', policy);
  refuses('http://db.example/', 'host_not_allowed', policy);
  checkUrl('http://127.0.0.1:8738/', policy);
  const alias = checkUrl('http://alias.example:8737/', policy);
  assert.throws(() => checkAddresses(alias, addresses('127.0.0.1'), policy), { code: 'host_not_allowed' });
});

test('mentions the operator only if the host restriction excludes the host', () => {
  const messageOf = (policy: FetchPolicy): string => {
    try {
      checkUrl('http://docs.example:8737/', policy);
    } catch (error) {
      return String(error);
    }
    return '';
  };
  assert.match(
    messageOf({ onlyHosts: parseTargetList(['other.example']) }),
    /The operator of this server can allow it/,
  );
  const ownMessage = messageOf({ refused: parseTargetList(['docs.example:8737']) });
  assert.match(ownMessage, /never fetches from itself/);
  assert.doesNotMatch(ownMessage, /operator/);
});

test('a refusal names the given host and never a resolved address', () => {
  const checked = checkUrl('http://intra.example/', {});
  assert.throws(
    () => checkAddresses(checked, addresses('10.11.12.13'), {}),
    (error: Error) => error.message.includes('intra.example') && !JSON.stringify(error).includes('10.11.12.13'),
  );
});
