import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseForm } from './form.ts';

async function fieldsOf(body: string): Promise<string[][]> {
  const parsed = await parseForm(Buffer.from(body));
  assert.ok(parsed.ok);
  return [...parsed.fields];
}

test('parses a form as URLSearchParams does, and turns CR LF into LF', async () => {
  const bodies = [
    '',
    'a=b',
    'a',
    '=b',
    'a=',
    '&&a=1&',
    'a=b=c',
    'a+b=c+d%20e',
    '%61=%E9%95%B7%F0%9F%98%80',
    'a=%zz%4',
    'a=%',
  ];
  for (const body of bodies) assert.deepEqual(await fieldsOf(body), [...new URLSearchParams(body)], body);
  assert.deepEqual(await fieldsOf('a=1%0D%0A2%0d%0a%0D3'), [['a', '1\n2\n\r3']]);
});

test('rejects too many fields and decodes a long form in pieces', async () => {
  assert.equal((await parseForm(Buffer.from('a&'.repeat(512 * 1024)))).ok, false);
  assert.equal((await parseForm(Buffer.from('a=&'.repeat(101)))).ok, false);
  let turns = 0;
  const count = (): void => {
    turns += 1;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  const [[, value = ''] = []] = await fieldsOf(`a=${'+%41'.repeat(5 * 1024 * 1024)}`);
  clearImmediate(counting);
  assert.equal(value.length, 10 * 1024 * 1024);
  assert.ok(turns >= 10, `${turns}`);
});
