import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  readDocType,
  readFilename,
  readNote,
  readSourcePath,
  readTags,
  readTitle,
  titleOfNote,
} from './validate-input.ts';

const refused = { code: 'invalid_arguments' };

test('trims and deduplicates tags and keeps their order and case', () => {
  assert.deepEqual(readTags([' b ', 'a', 'b', '', 'B', 'collection:x']), ['b', 'a', 'B', 'collection:x']);
  assert.deepEqual(readTags(['e\u0301']), ['\u00e9'], 'the same letters are the same tag, however they are composed');
  for (const tag of ['a,b', 'a\nb', 'x'.repeat(201)]) assert.throws(() => readTags([`${tag}z`]), refused);
  assert.throws(() => readTags(Array.from({ length: 65 }, (_, index) => `t${index}`)), refused);
});

test('contract §6: file names are names, never paths', () => {
  assert.equal(readFilename('../../etc/passwd'), 'passwd');
  assert.equal(readFilename('C:\\Users\\me\\report.pdf'), 'report.pdf');
  assert.equal(readFilename('a\r\nb.txt'), 'a b.txt');
  assert.ok(readFilename('x'.repeat(1000)).length <= 255);
  for (const name of ['', '.', '..', '/', 'a/', '\\', '\n', 'dir/..']) assert.throws(() => readFilename(name), refused);
});

test('titles are one line, and a blank one counts as absent', () => {
  assert.equal(readTitle(' A\ttitle\n'), 'A title');
  assert.equal(readTitle('  '), undefined);
  assert.throws(() => readTitle('x'.repeat(301)), refused);
});

test('keeps white space in a source path', () => {
  for (const path of ['/a/b  c.txt', '/a/2.43\u202fPM.png', ' /a/b\u00a0c.txt ', '/a/e\u0301.txt']) {
    assert.equal(readSourcePath(path), path);
  }
  assert.equal(readSourcePath(' \n'), undefined);
  assert.throws(() => readSourcePath('x'.repeat(1001)), refused);
});

test('a document type is a short name in lower case', () => {
  assert.equal(readDocType(' PDF '), 'pdf');
  assert.equal(readDocType(''), undefined);
  for (const type of ['a b', '../x', '-x', 'x'.repeat(41)]) assert.throws(() => readDocType(type), refused);
});

test('rejects an empty note', () => {
  for (const text of ['', ' \n\t', 'x'.repeat(1_000_001)]) assert.throws(() => readNote(text), refused);
});

test('rejects text that a database cannot store, and names the field', () => {
  for (const bad of ['a\0b', 'a\ud800']) {
    assert.throws(() => readNote(bad), /The text of the note has .* cannot be stored/);
    assert.throws(() => readTags(['good', bad]), /tags has/);
    assert.throws(() => readTitle(bad), /title has/);
    assert.throws(() => readFilename(`${bad}.txt`), /filename has/);
    assert.throws(() => readSourcePath(bad), /source_path has/);
  }
});

test('names a note without a title by its first line', () => {
  assert.equal(titleOfNote('\n---\n## The plan\n\nFirst…'), 'The plan');
  assert.equal(titleOfNote('---\ntitle: "Restore: a guide"\ntags: [ops]\n---\n\nFirst…'), 'Restore: a guide');
  assert.equal(titleOfNote('---\ntitle:\ntags: [ops]\n---\n\n# The plan'), 'The plan');
  assert.equal(titleOfNote('---\nA line between rules\n---\n\nFirst…'), 'A line between rules');
  assert.equal(titleOfNote('- item one\n- item two'), 'item one');
  assert.equal(titleOfNote('word '.repeat(50)).length, 80);
  assert.equal(titleOfNote('***'), 'Note');
});
