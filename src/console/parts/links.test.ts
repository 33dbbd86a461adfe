import assert from 'node:assert/strict';
import { test } from 'node:test';
import { marker } from './links.ts';

test('marks whole words of a query in any form, except question words', () => {
  const marks = (text: string, query: string) =>
    Array.from(marker(query)(text).markup.matchAll(/<mark>(.*?)<\/mark>/g), ([, word]) => word);
  const text = 'Incident of the 3rd: the checkouts slowed down, so checkout was stopped.';
  assert.deepEqual(marks(text, 'why was the checkout slow in September'), ['checkouts', 'slowed', 'checkout']);
  assert.deepEqual(marks(text, 'was in the'), []);
  assert.deepEqual(marks(text, '"checkout was"'), ['checkout was']);
  assert.equal(marker('checkout')('<b>checkout</b>').markup, '&lt;b&gt;<mark>checkout</mark>&lt;/b&gt;');
});
