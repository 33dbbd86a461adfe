import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorAnswer, messageLimits, parseMessages } from './messages.ts';

function one(text: string) {
  const outcome = parseMessages(text, messageLimits);
  assert.ok(outcome.ok, text);
  return outcome.incoming[0];
}

test('accepts strings and integers as ids and returns them unchanged (T008)', () => {
  for (const id of ['0', '1', '-7', '""', '"abc"', '1152921504606846977', '"1"']) {
    const incoming = one(`{"jsonrpc":"2.0","id":${id},"method":"ping","params":{"id":99,"nested":{"id":1e400}}}`);
    assert.equal(incoming?.kind, 'request', id);
    assert.ok(incoming.kind === 'request');
    assert.ok(JSON.stringify(errorAnswer(incoming.id, -1, 'x')).includes(`"id":${id},`), id);
  }
  for (const id of ['null', '1.5', '{}', '[]', 'true']) {
    assert.equal(one(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`)?.kind, 'invalid', id);
  }
});

test('rejects an overlong id', () => {
  const withId = (length: number) => one(`{"jsonrpc":"2.0","id":"${'a'.repeat(length)}","method":"ping"}`);
  assert.equal(withId(20_000)?.kind, 'request');
  const refused = withId(20_001);
  assert.ok(refused?.kind === 'invalid');
  assert.equal(refused.id, null);
  assert.match(refused.problem, /id must be a string of at most 20000 characters/);
});

test('a number and a string are different ids', () => {
  const [a, b] = [one('{"jsonrpc":"2.0","id":1,"method":"x"}'), one('{"jsonrpc":"2.0","id":"1","method":"x"}')];
  assert.ok(a?.kind === 'request' && b?.kind === 'request');
  assert.notEqual(a.id.key, b.id.key);
});

test('recognizes invalid JSON-RPC 2.0 messages (T010, T011, T012)', () => {
  const kinds: [string, string, number?][] = [
    ['{"jsonrpc":"2.0","method":"a"}', 'notification'],
    ['{"jsonrpc":"2.0","id":1,"result":{}}', 'response'],
    ['{"jsonrpc":"2.0","id":1,"error":{}}', 'response'],
    ['{"id":1,"method":"a"}', 'invalid', -32600],
    ['{"jsonrpc":"1.0","id":1,"method":"a"}', 'invalid', -32600],
    ['{"jsonrpc":2.0,"id":1,"method":"a"}', 'invalid', -32600],
    ['{"jsonrpc":"2.0","id":1,"Method":"a"}', 'invalid', -32600],
    ['{"jsonrpc":"2.0","id":1,"method":7}', 'invalid', -32600],
    ['{"jsonrpc":"2.0","id":1,"method":"a","params":null}', 'invalid', -32602],
    ['{"jsonrpc":"2.0","id":1,"method":"a","params":[1]}', 'invalid', -32602],
    ['{"jsonrpc":"2.0","id":1,"method":"a","params":"x"}', 'invalid', -32602],
    ['7', 'invalid', -32600],
    ['null', 'invalid', -32600],
  ];
  for (const [text, kind, code] of kinds) {
    const incoming = one(text);
    assert.equal(incoming?.kind, kind, text);
    if (incoming?.kind === 'invalid') assert.equal(incoming.code, code, text);
  }
});

test('bounds depth and elements before parsing, ignoring brackets and commas in strings (T013, T037)', () => {
  const refused = (text: string) => {
    const outcome = parseMessages(text, messageLimits);
    return outcome.ok ? undefined : outcome.problem;
  };
  assert.match(refused('['.repeat(1_000_000)) ?? '', /nested deeper than 128/);
  assert.match(refused(`{"a":[${'1,'.repeat(200_000)}1]}`) ?? '', /more than 100000 elements/);
  assert.match(refused(`[${'{},'.repeat(60_000)}{}]`) ?? '', /more than 100000 elements/);
  const quoted = JSON.stringify({ jsonrpc: '2.0', method: 'a', params: { text: '[{,"\\'.repeat(100_000) } });
  assert.equal(refused(quoted), undefined);
});

test('a message rejected before parsing is answered under its id (contract §2)', () => {
  const deep = `${'['.repeat(200)}${']'.repeat(200)}`;
  const cases: [text: string, id: unknown][] = [
    [`{"jsonrpc":"2.0","id":7,"method":"a","params":{"id":1,"deep":${deep}}}`, 7],
    [`{"method":"\\"id\\":1","params":{"id":1,"deep":${deep}},"jsonrpc":"2.0", "id" : "a b" }`, 'a b'],
    [`{"jsonrpc":"2.0","method":"a","params":{"id":1,"deep":${deep}}}`, null],
    [`{"jsonrpc":"2.0","id":{"id":1},"method":"a","params":${deep}}`, null],
    [`{"id":"\\x","params":${deep}}`, null],
    [`{"id":"\\ud800","params":${deep}}`, '\ud800'],
    [`{"id":"a\\"b\\u0041\x7f","params":${deep}}`, 'a"bA\x7f'],
    [`{"id":"${'\\u0041'.repeat(20_000)}","params":${deep}}`, 'A'.repeat(20_000)],
    [`{"id":"${'a'.repeat(20_001)}","params":${deep}}`, null],
    [`{"id":"a${deep}`, null],
    [`[{"id":1},${deep}]`, null],
  ];
  for (const [text, id] of cases) {
    const outcome = parseMessages(text, messageLimits);
    assert.deepEqual(outcome.ok ? 'read' : (outcome.id?.value ?? null), id, text.slice(0, 60));
  }
});

test('batches are bounded, and an empty one is invalid (T036)', () => {
  const batch = (count: number) => `[${Array(count).fill('{"jsonrpc":"2.0","method":"a"}').join(',')}]`;
  assert.equal(parseMessages(batch(100), messageLimits).ok, true);
  for (const text of [batch(101), '[]']) {
    const outcome = parseMessages(text, messageLimits);
    assert.deepEqual([outcome.ok, outcome.ok ? 0 : outcome.code], [false, -32600]);
  }
});

test('invalid JSON is a parse error', () => {
  for (const text of ['{', '"a', '{"a":1}}', '\\', '']) {
    const outcome = parseMessages(text, messageLimits);
    assert.deepEqual([outcome.ok, outcome.ok ? 0 : outcome.code], [false, -32700], text);
  }
});

test('_meta may be null or an object with a valid token; every request is answered', () => {
  const withMeta = (meta: string) => one(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":${meta},"a":1}}`);
  const left = withMeta('null');
  assert.ok(left?.kind === 'request');
  assert.deepEqual(left.params, { a: 1 });
  for (const meta of ['{}', '{"progressToken":"a"}', '{"progressToken":7,"other":null}']) {
    assert.equal(withMeta(meta)?.kind, 'request', meta);
  }
  for (const meta of ['5', '[]', '{"progressToken":null}', '{"progressToken":1.5}', '{"progressToken":{}}']) {
    const refused = withMeta(meta);
    assert.ok(refused?.kind === 'invalid', meta);
    assert.equal(refused.code, -32_602);
    assert.equal(refused.id?.value, 1);
  }
});
