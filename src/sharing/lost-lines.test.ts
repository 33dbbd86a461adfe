import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { whatToDo } from './lost-lines.ts';

const welcome = { readOnlyTools: ['find'] };
const decide = (message: unknown, repeated = false) =>
  whatToDo({ bytes: Buffer.from(typeof message === 'string' ? message : JSON.stringify(message)), repeated }, welcome);
const request = (method: string, params?: object, id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params });
const call = (name: string, more: object = {}) => request('tools/call', { name, arguments: {}, ...more });
const codeOf = (answer: object | undefined): unknown => Object(answer).error?.data?.code;

describe('a line whose owner ended before it answered', () => {
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

  it('is answered, and not repeated, if it may have changed something', () => {
    for (const message of [call('save_note'), request('tasks/cancel'), request('tools/call'), request('constructor')]) {
      const { repeat, answer } = decide(message);
      assert.equal(repeat, false);
      assert.equal(codeOf(answer), 'interrupted');
    }
  });

  it('is answered if it asked for progress, which would start over', () => {
    assert.equal(decide(call('find', { _meta: { progressToken: 7 } })).repeat, false);
  });

  it('repeats a line at most once: it may have crashed the process', () => {
    assert.equal(codeOf(decide(call('find'), true).answer), 'interrupted');
    assert.deepEqual(decide({ jsonrpc: '2.0', method: 'notifications/initialized' }, true), { repeat: false });
  });

  it('is answered with its original ids, and a batch as a batch', () => {
    const big = '{"jsonrpc":"2.0","id":123456789012345678901,"method":"tools/call","params":{"name":"save_note"}}';
    assert.match(JSON.stringify(decide(big).answer), /"id":123456789012345678901,/);
    const { answer } = decide([request('ping', {}, 'a'), { ...call('save_note'), id: 'b' }]);
    assert.deepEqual(
      (answer as { id: string }[]).map(({ id }) => id),
      ['a', 'b'],
    );
  });
});
