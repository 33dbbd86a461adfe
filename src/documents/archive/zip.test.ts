import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { rawZip, zipOf } from '../../../test/security/parsers/raw-zip.ts';
import { openZip } from './zip.ts';

test('finds members by name and unpacks them', () => {
  const zip = openZip(zipOf({ 'a/b.txt': 'one', 'c.txt': 'two' }));
  assert.deepEqual(
    zip.members.map(({ name }) => name),
    ['a/b.txt', 'c.txt'],
  );
  const member = zip.find('c.txt');
  assert.ok(member);
  assert.equal(Buffer.from(zip.bytes(member)).toString(), 'two');
  assert.equal(zip.find('d.txt'), undefined);
});

test('skips bytes before the archive and a comment after it', () => {
  const archive = Buffer.concat([Buffer.from('#!/bin/sh\n'), zipOf({ 'a.txt': 'one' }), Buffer.from('comment')]);
  archive.writeUInt16LE(7, archive.length - 9);
  const [member] = openZip(archive).members;
  assert.ok(member);
  assert.equal(Buffer.from(openZip(archive).bytes(member)).toString(), 'one');
});

test('counts unpacked bytes over all reads, regardless of declared sizes', () => {
  const data = randomBytes(1000);
  const zip = openZip(rawZip([{ name: 'a', data, declaredBytes: 1 }]), { totalBytesMax: 2500 });
  const [member] = zip.members;
  assert.ok(member);
  zip.bytes(member);
  zip.bytes(member);
  assert.throws(() => zip.bytes(member), { code: 'extraction_too_complex' });
});

test('stops a member that unpacks to too many times its size', () => {
  const zip = openZip(zipOf({ a: Buffer.alloc(4_000_000) }), { ratioMax: 100, ratioFromBytes: 100_000 });
  const [member] = zip.members;
  assert.ok(member);
  let length = 0;
  assert.throws(
    () => {
      for (const part of zip.stream(member)) length += part.length;
    },
    { code: 'extraction_too_complex' },
  );
  assert.ok(length < 4_000_000);
});

test('refuses overlapping members, too many members and a wrong checksum', () => {
  const data = Buffer.from('words');
  assert.throws(
    () =>
      openZip(
        rawZip([
          { name: 'a', data },
          { name: 'b', data, sharesWith: 0 },
        ]),
      ),
    {
      code: 'extraction_too_complex',
    },
  );
  assert.throws(() => openZip(zipOf({ a: 'x', b: 'x' }), { membersMax: 1 }), { code: 'extraction_too_complex' });
  const wrong = openZip(rawZip([{ name: 'a', data, packed: Buffer.from('wordz'), method: 0 }]));
  assert.throws(() => wrong.members.map((member) => wrong.bytes(member)), { code: 'extraction_failed' });
});

test('reports a member with a password', () => {
  const zip = openZip(rawZip([{ name: 'a', data: Buffer.from('x'), flags: 1 }]));
  assert.throws(() => zip.members.map((member) => zip.bytes(member)), { code: 'encrypted_document' });
});
