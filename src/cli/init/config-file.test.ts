import assert from 'node:assert/strict';
import fs from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFolder } from '../../../test/support/child-program.ts';
import { backUpFile, readConfigFile, replaceFile } from './config-file.ts';

test('a file keeps its mode and its byte order mark, and its copy has the same mode', (t) => {
  const path = join(makeFolder(t), 'settings.json');
  fs.writeFileSync(path, '\ufeff{"a": 1}', { mode: 0o640 });
  fs.chmodSync(path, 0o640);
  const found = readConfigFile(path);
  assert.equal(found.text, '{"a": 1}');
  const copy = backUpFile(found, new Date('2026-11-15T10:20:30.456Z'));
  assert.equal(copy, `${path}.carrel-20261115T102030.bak`);
  assert.match(backUpFile(found, new Date('2026-11-15T10:20:30.456Z')), /-1\.bak$/, 'none is written over');
  replaceFile(found, '{"b": 2}');
  assert.equal(fs.readFileSync(path, 'utf8'), '\ufeff{"b": 2}');
  assert.equal(fs.readFileSync(copy, 'utf8'), '\ufeff{"a": 1}');
  for (const each of [path, copy]) assert.equal(fs.statSync(each).mode & 0o777, 0o640);
  assert.equal(fs.readdirSync(join(path, '..')).length, 3, 'no draft is left');
});

test('creates a missing file and its folders, readable by the owner only', (t) => {
  const path = join(makeFolder(t), 'deep', 'er', 'mcp.json');
  replaceFile(readConfigFile(path), '{}');
  assert.equal(fs.statSync(path).mode & 0o777, 0o600);
});

test('follows a link to a file of the same user and keeps the link', (t) => {
  const folder = makeFolder(t);
  fs.mkdirSync(join(folder, 'dotfiles'));
  fs.writeFileSync(join(folder, 'dotfiles', 'zed.json'), '{}');
  const path = join(folder, 'settings.json');
  fs.symlinkSync(join(folder, 'dotfiles', 'zed.json'), path);
  replaceFile(readConfigFile(path), '{"b": 2}');
  assert.ok(fs.lstatSync(path).isSymbolicLink());
  assert.equal(fs.readFileSync(join(folder, 'dotfiles', 'zed.json'), 'utf8'), '{"b": 2}');
});

test('rejects broken and circular links, folders, devices and other non-files', (t) => {
  const folder = makeFolder(t);
  const link = (name: string, target: string): string => {
    fs.symlinkSync(target, join(folder, name));
    return join(folder, name);
  };
  fs.mkdirSync(join(folder, 'folder'));
  fs.writeFileSync(join(folder, 'plain'), '');
  for (const [path, message] of [
    [link('dangling', join(folder, 'elsewhere.json')), /is a broken link/],
    [link('loop', join(folder, 'loop')), /is a link to itself/],
    [link('to-folder', join(folder, 'folder')), /which is not a file/],
    [link('to-device', '/dev/zero'), /which is not a file/],
    [join(folder, 'folder'), /is not a file/],
    [join(folder, 'plain', 'mcp.json'), /plain is not a folder/],
  ] as const) {
    assert.throws(() => readConfigFile(path), { code: 'invalid_config', message }, path);
  }
  assert.equal(fs.existsSync(join(folder, 'elsewhere.json')), false);
});

test('rejects a file that is write-protected, not UTF-8 or changed meanwhile', (t) => {
  const folder = makeFolder(t);
  const path = join(folder, 'mcp.json');
  fs.writeFileSync(path, '{}', { mode: 0o444 });
  assert.throws(() => readConfigFile(path), /write-protected/);
  fs.chmodSync(path, 0o600);
  fs.writeFileSync(path, Buffer.from('{"a": "\xff"}', 'latin1'));
  assert.throws(() => readConfigFile(path), /not valid UTF-8/);
  fs.writeFileSync(path, '{}');
  const found = readConfigFile(path);
  fs.writeFileSync(path, '{"by": "the client"}');
  assert.throws(() => replaceFile(found, '{}'), /changed by another program/);
  assert.equal(fs.readFileSync(path, 'utf8'), '{"by": "the client"}');
  assert.deepEqual(fs.readdirSync(folder), ['mcp.json']);
});

test('as root: rejects a file of another user', { skip: process.getuid?.() !== 0 }, (t) => {
  const path = join(makeFolder(t), 'mcp.json');
  fs.writeFileSync(path, '{}');
  fs.chownSync(path, 12345, 12345);
  assert.throws(() => readConfigFile(path), /belongs to another user/);
});
