import assert from 'node:assert/strict';
import { Client, SSEClientTransport } from '@modelcontextprotocol/client';
import { createSlidingWindow } from '../../../src/base/sliding-window.ts';
import type { RpcAnswer } from '../../support/bare-rpc.ts';
import { verifies } from '../../support/verifies.ts';
import { startResearch } from './research-fixture.ts';

const usual = { RATE_LIMIT_SEARCH: '10', RATE_LIMIT_FETCH: '30', RATE_LIMIT_NOTES: '50' };

function tally(answers: readonly RpcAnswer[]): { passed: number; refused: RpcAnswer[] } {
  const refused = answers.filter(({ error }) => error?.data.code === 'rate_limit_exceeded');
  return { passed: answers.length - refused.length, refused };
}

verifies(
  [
    ...['004 limits/categories', '004 config/RATE_LIMIT_FETCH', '004 config/RATE_LIMIT_NOTES'],
    ...[
      '004 limits/response',
      '004 errors/rate_limit_exceeded',
      '004 config/RATE_LIMIT_SEARCH',
      '004 overview/limiter',
    ],
  ],
  'T130: counts each category separately and the three note tools together; accepts exactly ten of a hundred concurrent searches, and rejects the rest with the documented message',
  async (t) => {
    const { rpc, site } = await startResearch(usual, t);
    const notes = [
      ...Array.from({ length: 20 }, () => rpc.callTool('save_note', { title: 't', content: 'c' })),
      ...Array.from({ length: 20 }, () => rpc.callTool('list_notes', {})),
      ...Array.from({ length: 20 }, () => rpc.callTool('get_note', { id: 'x' })),
    ];
    const noted = tally(await Promise.all(notes));
    assert.equal(noted.passed, 50);
    assert.deepEqual(new Set(noted.refused.map(({ error }) => error?.data.details['category'])), new Set(['notes']));
    const fetches = Array.from({ length: 40 }, () => rpc.callTool('fetch_page', { url: `${site.origin}/json` }));
    const fetched = tally(await Promise.all(fetches));
    assert.equal(fetched.passed, 30);
    assert.equal(fetched.refused[0]?.error?.data.details['limit'], 30);

    const searches = Array.from({ length: 100 }, () => rpc.callTool('web_search', { query: 'python' }));
    const { passed, refused } = tally(await Promise.all(searches));
    assert.equal(passed, 10);
    assert.equal(refused.length, 90);
    for (const { error } of refused) {
      const retryAfter = error?.data.details['retryAfter'];
      assert.ok(Number.isInteger(retryAfter) && Number(retryAfter) >= 1 && Number(retryAfter) <= 60);
      assert.deepEqual(error, {
        code: -32_000,
        message: 'Rate limit exceeded',
        data: {
          code: 'rate_limit_exceeded',
          details: { category: 'search', limit: 10, window: '1 minute', retryAfter },
        },
      });
    }
  },
);

verifies('004 limits/window', 'T137: the window slides: accepts a call again when the oldest is a minute old', () => {
  let now = 0;
  const window = createSlidingWindow({ limit: 3, windowMs: 60_000, clock: () => now });
  for (const time of [0, 20_000, 50_000]) {
    now = time;
    assert.equal(window.take('a').ok, true);
  }
  now = 59_000;
  assert.deepEqual(window.take('a'), { ok: false, retryAfterMs: 1000 });
  now = 60_000;
  assert.equal(window.take('a').ok, true);
  assert.deepEqual(window.take('a'), { ok: false, retryAfterMs: 20_000 });
  assert.equal(window.take('b').ok, true);
});

/** The next test uses up the searches, the last one the notes. */
const { carrel } = await startResearch({ RATE_LIMIT_SEARCH: '3', RATE_LIMIT_NOTES: '3' }, undefined, ['--cody']);

verifies('004 limits/window', 'counts all connections of the HTTP+SSE pair as one client', async () => {
  let refused = 0;
  for (let connection = 0; connection < 3; connection += 1) {
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new SSEClientTransport(new URL('/sse', carrel.url)));
    for (let call = 0; call < 2; call += 1) {
      await client.callTool({ name: 'web_search', arguments: { query: 'python' } }).catch((error: Error) => {
        assert.match(error.message, /Rate limit exceeded/);
        refused += 1;
      });
    }
    await client.close();
  }
  assert.equal(refused, 3);
});

verifies('004 limits/window', 'T133: a client cannot evade its limit by claiming another identity', async () => {
  const codes: unknown[] = [];
  for (let index = 0; index < 6; index += 1) {
    const response = await fetch(carrel.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-forwarded-for': `203.0.113.${index}`,
        forwarded: `for=203.0.113.${index}`,
        'x-real-ip': `203.0.113.${index}`,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: index, method: 'tools/call', params: { name: 'list_notes' } }),
    });
    codes.push(((await response.json()) as RpcAnswer).error?.data.code);
  }
  const limit = 'rate_limit_exceeded';
  assert.deepEqual(codes, [undefined, undefined, undefined, limit, limit, limit]);
});
