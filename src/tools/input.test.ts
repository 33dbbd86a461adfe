import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { createInputParser } from './input.ts';
import { defineTool } from './tool.ts';

const tool = defineTool({
  name: 'store',
  title: 'Store',
  description: 'Stores.',
  effect: 'add',
  input: z.object({
    text: z.string().min(1).max(5),
    tags: z.array(z.string()).max(2).optional(),
    metadata: z.record(z.string(), z.unknown()).optional(),
    limit: z.number().int().min(1).max(10).default(3),
    mode: z.enum(['a', 'b']).optional(),
    entries: z.array(z.object({ tags: z.array(z.string()).optional() })).optional(),
  }),
  output: z.object({}),
  run: async () => ({}),
});
const parser = createInputParser(tool, { name: 't', tools: [tool], failures: { as: 'result' } });
const parse = (args: unknown) => parser.parse(args).input;

test('JSON text is parsed where an array or object is wanted, at any depth (contract §2)', () => {
  assert.deepEqual(parse({ text: 'x', tags: '["a","b"]', metadata: '{"k":1}', entries: '[{"tags":"[\\"c\\"]"}]' }), {
    text: 'x',
    tags: ['a', 'b'],
    metadata: { k: 1 },
    limit: 3,
    entries: [{ tags: ['c'] }],
  });
});

test('JSON within JSON is parsed too (upstreams 1.2)', () => {
  assert.deepEqual(parse({ text: 'x', tags: JSON.stringify('["a"]') }), { text: 'x', tags: ['a'], limit: 3 });
  assert.throws(() => parse({ text: 'x', tags: JSON.stringify('not json') }), /tags must be an array/);
});

test('accepts numbers as text only if the toolset says so (upstreams 1.1)', () => {
  const lax = createInputParser(tool, {
    name: 't',
    tools: [tool],
    failures: { as: 'result' },
    acceptsTextValues: true,
  });
  assert.deepEqual(lax.parse({ text: '5', limit: '5' }).input, { text: '5', limit: 5 });
  assert.throws(() => lax.parse({ text: 'x', limit: '11' }), /limit must be at most 10/);
  for (const limit of ['ten', '5x', '', ' ', '0x5', '1e1', 'true']) {
    assert.throws(() => lax.parse({ text: 'x', limit }), /limit must be a number/, limit);
  }
  assert.throws(() => parse({ text: 'x', limit: '5' }), /limit must be a number/);
});

test('text stays text where text is wanted, even if it looks like JSON', () => {
  assert.deepEqual(parse({ text: '[1]' }), { text: '[1]', limit: 3 });
});

test('null means an omitted optional argument', () => {
  assert.deepEqual(parse({ text: 'x', tags: null, mode: null }), { text: 'x', limit: 3 });
  assert.throws(() => parse({ text: null }), /text must be a string/);
});

test('faults name the field, the problem and the bound (contract §2)', () => {
  const cases: [unknown, RegExp][] = [
    [{}, /text is required \(a string\)/],
    [{ text: '' }, /text must have at least 1 character/],
    [{ text: 'toolong' }, /text must have at most 5 characters/],
    [{ text: 'x', limit: 11 }, /limit must be at most 10/],
    [{ text: 'x', limit: 'ten' }, /limit must be a number/],
    [{ text: 'x', limit: 1.5 }, /limit must be an integer/],
    [{ text: 'x', tags: ['a', 'b', 'c'] }, /tags must have at most 2 items/],
    [{ text: 'x', tags: ['a', 7] }, /tags\[1\] must be a string/],
    [{ text: 'x', tags: 'not json' }, /tags must be an array/],
    [{ text: 'x', mode: 'c' }, /mode must be one of a, b/],
    [{ text: 'x', tgas: [] }, /does not take tgas; valid arguments: text, tags, metadata, limit, mode, entries/],
    [[], /must be an object/],
    ['text', /must be an object/],
  ];
  for (const [args, expected] of cases) {
    assert.throws(() => parse(args), { code: 'invalid_arguments', message: expected }, JSON.stringify(args));
  }
});

test('property names special to JavaScript are plain names', () => {
  assert.throws(() => parse(JSON.parse('{"text":"x","__proto__":{"polluted":1},"constructor":1}')), {
    code: 'invalid_arguments',
  });
  assert.equal('polluted' in {}, false);
});

test('an unknown argument is quoted short and escaped', () => {
  const message = (() => {
    try {
      parse({ text: 'x', [`\u001b[31m${'a'.repeat(1000)}`]: 1 });
    } catch (error) {
      return (error as Error).message;
    }
    return '';
  })();
  assert.ok(message.length > 0 && message.length < 300 && !message.includes('\u001b'));
});
