import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contentDisposition } from './send-file.ts';

test('RFC 6266: a name can neither end the header nor break out of its quotes', () => {
  for (const name of ['a"; filename="b.exe', 'a\r\nset-cookie: x', 'a\\', '100%.txt', 'naïve.txt', "it's (1)*.txt"]) {
    const header = contentDisposition(name);
    assert.match(header, /^attachment; filename="[^"\\\r\n%]*"; filename\*=UTF-8''[\w.!~%-]+$/, name);
    assert.equal(decodeURIComponent(/UTF-8''(.*)$/.exec(header)?.[1] ?? ''), name);
  }
});
