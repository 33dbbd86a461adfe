import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CarrelError } from '../../base/errors.ts';
import { showNote, sourceUrlList, tagList } from './notes.ts';
import { writeNote } from './tools/note-tools.ts';

test('004 save_note: trims, lower-cases and deduplicates tags before counting them', () => {
  const tags = tagList(2);
  assert.deepEqual(tags.parse([' Python', 'python ', 'PYTHON', '', '  ', 'Öl']), ['python', 'öl']);
  assert.equal(tags.safeParse(['a', 'b', 'c']).success, false);
  assert.equal(tags.safeParse(['x'.repeat(101)]).success, false);
});

test('004 save_note: keeps source URLs as written, without duplicates, and rejects other schemes', () => {
  const urls = sourceUrlList();
  assert.deepEqual(urls.parse(['https://python.org', ' https://python.org ']), ['https://python.org']);
  for (const bad of [
    'python.org',
    'ftp://a.example/',
    'javascript:alert(1)',
    'https://',
    'https://a.example/\u0007',
    '',
  ]) {
    assert.equal(urls.safeParse([bad]).success, false, bad);
  }
  const many = Array.from({ length: 21 }, (_, index) => `https://a.example/${index}`);
  assert.equal(urls.safeParse(many).success, false);
  assert.equal(urls.safeParse(many.slice(1)).success, true);
});

test('004 error codes: a note that cannot be stored is note_save_failed', async () => {
  const cause = new Error('/dev/sda1');
  const broken = new CarrelError('unavailable', 'The disk is gone.', { cause, retryAfterSeconds: 1 });
  const saving = writeNote('saved', Promise.reject(broken));
  await assert.rejects(saving, (error: CarrelError) => {
    assert.equal(error.code, 'note_save_failed');
    assert.deepEqual(error.data, { details: { reason: 'unavailable', retryAfter: 1 } });
    assert.doesNotMatch(error.message, /sda1/);
    return true;
  });
});

test('T091: models get notes without invisible characters; emoji stay intact', () => {
  const shown = showNote({
    id: 'x',
    title: 'a\u202eb',
    content: 'zero\u200bwidth 👩‍👩‍👧 \u{e0041}tag',
    tags: ['t\u2066ag'],
    sourceUrls: [],
    createdAt: '',
    updatedAt: '',
  });
  assert.deepEqual([shown.title, shown.content, shown.tags], ['ab', 'zerowidth 👩‍👩‍👧 tag', ['tag']]);
});
