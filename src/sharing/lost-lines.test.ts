import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { createSessionLines, recoverLine } from './lost-lines.ts';

const welcome = { readOnlyTools: ['find'] };
const decide = (message: unknown, repeated = false) =>
  recoverLine(
    { bytes: Buffer.from(typeof message === 'string' ? message : JSON.stringify(message)), repeated },
    welcome,
  );
const request = (method: string, params?: object, id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params });
const call = (name: string, more: object = {}) => request('tools/call', { name, arguments: {}, ...more });
const codeOf = (answer: object | undefined): unknown => Object(answer).error?.data?.code;

describe('a line whose owner died before answering', () => {
  it('is repeated if it changes nothing', () => {
    for (const message of [
      request('tools/list'),
      request('initialize', {}),
      call('find'),
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      [request('ping'), call('find')],
      'no JSON',
    ]) {
      assert.deepEqual(decide(message), { repeat: true });
    }
  });

  it('gets an error if it may have changed something', () => {
    for (const message of [call('save_note'), request('tasks/cancel'), request('tools/call'), request('constructor')]) {
      const { repeat, answer } = decide(message);
      assert.equal(repeat, false);
      assert.equal(codeOf(answer), 'interrupted');
    }
  });

  it('gets an error if it asked for progress, which would start over', () => {
    assert.equal(decide(call('find', { _meta: { progressToken: 7 } })).repeat, false);
  });

  it('is repeated at most once, because it may have crashed the owner', () => {
    assert.equal(codeOf(decide(call('find'), true).answer), 'interrupted');
    assert.deepEqual(decide({ jsonrpc: '2.0', method: 'notifications/initialized' }, true), { repeat: false });
  });

  it('gets errors with its original ids, and a batch gets a batch', () => {
    const big = '{"jsonrpc":"2.0","id":123456789012345678901,"method":"tools/call","params":{"name":"save_note"}}';
    assert.match(JSON.stringify(decide(big).answer), /"id":123456789012345678901,/);
    const { answer } = decide([request('ping', {}, 'a'), { ...call('save_note'), id: 'b' }]);
    assert.deepEqual(
      (answer as { id: string }[]).map(({ id }) => id),
      ['a', 'b'],
    );
  });
});

test('stores the handshake and the current subscriptions of a session', () => {
  const lines = createSessionLines();
  const add = (method: string, uri?: string, id?: number): void =>
    lines.add(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, method, params: { uri } })));
  add('initialize', undefined, 1);
  add('notifications/initialized');
  for (let id = 2; id < 100; id += 2) {
    add('resources/list', undefined, id);
    add('resources/subscribe', 'a:1', id);
    add('resources/unsubscribe', 'a:1', id + 1);
  }
  add('resources/subscribe', 'a:2', 100);
  lines.add(Buffer.from('no JSON'));
  const replayed = [...lines.all()].map((bytes) => JSON.parse(bytes.toString()));
  assert.deepEqual(
    replayed.map(({ id, method }) => [method, id]),
    [
      ['initialize', 1],
      ['notifications/initialized', undefined],
      ['resources/list', 98],
      ['resources/subscribe', 100],
    ],
  );
});
