import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classifyAddress, parseAddress, parseAddressBlock } from './address-rules.ts';

function isPublicAddress(text: string): boolean {
  const address = parseAddress(text);
  return address !== undefined && classifyAddress(address) === 'public';
}

function classOf(text: string): string {
  const address = parseAddress(text);
  return address === undefined ? 'none' : classifyAddress(address);
}

// T066: the first and last address of each IANA special range, and its neighbours outside, where those are public.
const ipv4Ranges: [first: string, last: string, before: string | undefined, after: string | undefined][] = [
  ['0.0.0.0', '0.255.255.255', undefined, '1.0.0.0'],
  ['10.0.0.0', '10.255.255.255', '9.255.255.255', '11.0.0.0'],
  ['100.64.0.0', '100.127.255.255', '100.63.255.255', '100.128.0.0'],
  ['127.0.0.0', '127.255.255.255', '126.255.255.255', '128.0.0.0'],
  ['169.254.0.0', '169.254.255.255', '169.253.255.255', '169.255.0.0'],
  ['172.16.0.0', '172.31.255.255', '172.15.255.255', '172.32.0.0'],
  ['192.0.0.0', '192.0.0.255', '191.255.255.255', '192.0.1.0'],
  ['192.0.2.0', '192.0.2.255', '192.0.1.255', '192.0.3.0'],
  ['192.31.196.0', '192.31.196.255', '192.31.195.255', '192.31.197.0'],
  ['192.52.193.0', '192.52.193.255', '192.52.192.255', '192.52.194.0'],
  ['192.88.99.0', '192.88.99.255', '192.88.98.255', '192.88.100.0'],
  ['192.168.0.0', '192.168.255.255', '192.167.255.255', '192.169.0.0'],
  ['192.175.48.0', '192.175.48.255', '192.175.47.255', '192.175.49.0'],
  ['198.18.0.0', '198.19.255.255', '198.17.255.255', '198.20.0.0'],
  ['198.51.100.0', '198.51.100.255', '198.51.99.255', '198.51.101.0'],
  ['203.0.113.0', '203.0.113.255', '203.0.112.255', '203.0.114.0'],
  ['224.0.0.0', '239.255.255.255', '223.255.255.255', undefined],
  ['240.0.0.0', '255.255.255.255', undefined, undefined],
];

test('refuses every special IPv4 range to its edges, but not its neighbours (T066)', () => {
  for (const [first, last, before, after] of ipv4Ranges) {
    for (const inside of [first, last]) assert.equal(isPublicAddress(inside), false, inside);
    for (const outside of [before, after]) if (outside) assert.equal(isPublicAddress(outside), true, outside);
  }
});

test('only 2000::/3 without its special ranges is public IPv6 (T067)', () => {
  const refused = [
    '::',
    '::1',
    '::2',
    '::7f00:1',
    '::8.8.8.8',
    '::ffff:0:7f00:1',
    '::ffff:0:808:808',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b::808:808',
    '64:ff9b:1::a9fe:a9fe',
    '64:ff9b:1:ffff::1',
    '100::1',
    '100:0:0:1::1',
    '1fff::1',
    '2001::1',
    '2001:0:53aa:64c:0:0:f5ff:fffa',
    '2001:1::1',
    '2001:2::1',
    '2001:3::1',
    '2001:4:112::1',
    '2001:10::1',
    '2001:20::1',
    '2001:30::1',
    '2001:1ff:ffff::1',
    '2001:db8::1',
    '2001:db8:ffff::1',
    '2002:a9fe:a9fe::',
    '2002:808:808::1',
    '2620:4f:8000::1',
    '3fff::1',
    '3fff:fff:ffff::1',
    '4000::1',
    '5f00::1',
    '8000::1',
    'fc00::1',
    'fd00:ec2::254',
    'fdff:ffff::1',
    'fe80::1',
    'febf::1',
    'fec0::1',
    'feff::1',
    'ff02::1',
    '2606:4700::5efe:10.0.0.1',
    '2606:4700::200:5efe:8.8.8.8',
  ];
  for (const text of refused) assert.equal(isPublicAddress(text), false, text);
  const allowed = [
    '2001:200::1',
    '2001:4860:4860::8888',
    '2001:db7:ffff::1',
    '2001:db9::1',
    '2003::1',
    '2606:2800:220:1::1',
    '3ffe::1',
    '3fff:1000::1',
    '2620:4f:8001::1',
  ];
  for (const text of allowed) assert.equal(isPublicAddress(text), true, text);
});

test('classifies an IPv4-mapped address as its IPv4 address', () => {
  assert.equal(classOf('::ffff:127.0.0.1'), 'private');
  assert.equal(classOf('::ffff:a9fe:a9fe'), 'metadata');
  assert.equal(classOf('::ffff:93.184.216.34'), 'public');
  assert.equal(parseAddress('::ffff:93.184.216.34')?.toString(), '93.184.216.34');
});

test('classifies metadata addresses in every form that embeds them (T065)', () => {
  const metadata = [
    '169.254.169.254',
    '169.254.170.2',
    '169.254.170.23',
    '169.254.0.23',
    '169.254.42.42',
    '168.63.129.16',
    '100.100.100.200',
    '192.0.0.192',
    'fd00:ec2::254',
    'fd00:ec2::23',
    'fd20:ce::254',
    'fd00:42::42',
    'fe80::a9fe:a9fe',
    '::169.254.169.254',
    '::ffff:0:169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::a9fe:a9fe',
    '2002:a9fe:a9fe::1',
    '2001:0:1:2:3:4:5601:5601',
    '2001:0:a9fe:a9fe::1',
    '2606:4700::5efe:a9fe:a9fe',
  ];
  for (const text of metadata) assert.equal(classOf(text), 'metadata', text);
  for (const text of ['168.63.129.15', '168.63.129.17', '2002:808:808::1', 'fd20:ce::255']) {
    assert.notEqual(classOf(text), 'metadata', text);
  }
});

test('loopback, RFC 1918, carrier-grade NAT and unique local are private; other reserved ranges are special', () => {
  for (const text of ['127.0.0.1', '10.0.0.5', '172.16.0.1', '192.168.1.1', '100.64.0.1', '::1', 'fd12::1']) {
    assert.equal(classOf(text), 'private', text);
  }
  for (const text of ['0.0.0.0', '198.18.0.1', '224.0.0.1', '255.255.255.255', '::', 'fec0::1', '::7f00:1']) {
    assert.equal(classOf(text), 'special', text);
  }
});

test('accepts only canonical literals as addresses', () => {
  for (const text of [
    '',
    '127.1',
    '0177.0.0.1',
    '0x7f000001',
    '2130706433',
    '1.2.3.4.',
    'fe80::1%lo',
    '::1%0',
    '[::1]',
    '1.2.3.4/0',
    ' 1.2.3.4',
    '1'.repeat(1 << 20),
  ]) {
    assert.equal(parseAddress(text), undefined, text.slice(0, 20));
  }
});

test('a block needs an address and a valid prefix length', () => {
  assert.ok(parseAddressBlock('10.0.0.0/8') && parseAddressBlock('fd00::/8') && parseAddressBlock('0.0.0.0/0'));
  for (const text of [
    '10.0.0.0',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    'fd00::/129',
    'name/8',
    '10.0/8',
  ]) {
    assert.equal(parseAddressBlock(text), undefined, text);
  }
});
