import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CarrelError, isCarrelError } from '../../base/errors.ts';
import { checkUrl, type FetchPolicy } from '../../web/fetch-policy.ts';
import { parseTargetList } from '../../web/target-list.ts';
import { explainRefusal, isPdf, plainText } from './content-rules.ts';

test('recognizes a PDF by content type or first bytes (000 §8.5.3)', () => {
  assert.ok(isPdf('application/pdf'));
  assert.ok(isPdf('Application/PDF; charset=binary'));
  assert.ok(isPdf('text/plain', Buffer.from('\n%PDF-1.4 …')));
  assert.ok(!isPdf('application/pdfx-viewer', Buffer.from('<p>about %PDF</p>')));
  assert.ok(!isPdf('text/html'));
});

test('returns UTF-8 plain text unchanged; everything else is decoded', () => {
  const text = ' Grüße\r\n\t世界 \n';
  assert.equal(plainText('text/plain', Buffer.from(text)), text);
  assert.equal(plainText('text/plain; charset="UTF-8"', Buffer.from(text)), text);
  assert.equal(plainText('text/plain; charset=iso-8859-1', Buffer.from(text, 'latin1')), undefined);
  assert.equal(plainText('text/plain', Buffer.from('Grüße', 'latin1')), undefined);
  assert.equal(plainText('text/plain', Buffer.from('a\0b')), undefined);
  assert.equal(plainText('text/html', Buffer.from(text)), undefined);
});

test('adds the setting to a refusal, and leaves other errors unchanged (000 §10)', () => {
  const explained = explainRefusal(new CarrelError('too_large', 'Too large.', { data: { host: 'a' } }), false);
  assert.ok(isCarrelError(explained));
  assert.deepEqual([explained.code, explained.data], ['too_large', { host: 'a' }]);
  assert.match(explained.message, /^Too large\. .*contentFetch\.maxBytes/);
  const other = new CarrelError('fetch_failed', 'No answer.');
  assert.equal(explainRefusal(other, false), other);
  const mistake = new TypeError('ours');
  assert.equal(explainRefusal(mistake, false), mistake);
});

test('blames the allowlist only for a host that is not in it', () => {
  const explain = (policy: FetchPolicy): string => {
    try {
      checkUrl('http://docs.example/', policy);
    } catch (error) {
      const explained = explainRefusal(error, false);
      return isCarrelError(explained) && explained.code === 'host_not_allowed' ? explained.message : '';
    }
    return '';
  };
  const onlyHosts = parseTargetList(['example.com']);
  const refused = parseTargetList(['docs.example']);
  assert.match(explain({ onlyHosts }), /not allowed by contentFetch\.allowedHostAllowlist/);
  for (const policy of [{ refused }, { refused, onlyHosts }]) {
    assert.match(explain(policy), /never fetches from itself/);
    assert.doesNotMatch(explain(policy), /allowlist/i);
  }
  const fessPage = new CarrelError('host_not_allowed', 'The document is a page of Fess itself.');
  assert.equal(explainRefusal(fessPage, false), fessPage);
});

test('names only the setting that the bridge reads for private networks', () => {
  assert.throws(
    () => checkUrl('http://10.1.2.3/', {}),
    (error) => {
      const explained = explainRefusal(error, true);
      assert.ok(isCarrelError(explained));
      assert.match(explained.message, /contentFetch\.allowPrivateNetworkTargets/);
      assert.doesNotMatch(explained.message, /FETCH_ALLOW_PRIVATE/);
      return true;
    },
  );
});
