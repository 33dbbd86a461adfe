import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseExact } from '../../../src/base/exact-json.ts';
import type { Answer, ContextServer } from './context-fixture.ts';

/** Three integers that are the same double. */
const big = 1_234_567_890_123_456_789n;
const neighbours = [big - 1n, big, big + 1n];

export function exactNumbers(server: ContextServer): void {
  /** Parses the text with every digit; the client's structured content has lost some. */
  async function exactly(tool: string, input: Record<string, unknown>): Promise<Answer> {
    const { content, isError } = await server.client.callTool({ name: tool, arguments: input });
    const texts = (Array.isArray(content) ? content : []).map((each) => ('text' in each ? each.text : ''));
    assert.ok(!isError, texts[0]);
    const [first, rest = {}] = texts.map(parseExact) as [Answer, object?];
    return (Array.isArray(first) ? { result: first, ...rest } : first) as Answer;
  }
  const metadataOf = async (id: number, more = {}) =>
    (await exactly('get_context_by_ids', { context_ids: [id], ...more })).result[0]?.['metadata'];

  test('come back as stored, replaced and patched, now and as of then', async () => {
    const metadata = { n: big, list: [2n ** 63n, 2n ** 64n], deep: { x: -9_007_199_254_740_993n }, f: 0.1, one: 1.0 };
    const id = await server.store('exact', 'stored', { metadata });
    assert.deepEqual(await metadataOf(id), metadata);
    const asText = await server.store('exact', 'as text', { metadata: JSON.stringify({ n: big }) });
    assert.deepEqual(await metadataOf(asText), { n: big });
    const before = new Date().toISOString();
    await new Promise((resolve) => setTimeout(resolve, 5));
    await server.call('update_context', {
      context_id: id,
      metadata_patch: { deep: { x: null, y: big + 1n }, f: null },
    });
    const patched = { n: big, list: [2n ** 63n, 2n ** 64n], deep: { y: big + 1n }, one: 1 };
    assert.deepEqual(await metadataOf(id), patched);
    assert.deepEqual(await metadataOf(id, { as_of: before }), metadata);
    await server.call('update_context', { context_id: id, metadata: { n: 10n ** 30n } });
    assert.deepEqual(await metadataOf(id), { n: 10n ** 30n });
    const found = await exactly('search_context', { thread_id: 'exact', metadata: { n: 10n ** 30n } });
    assert.deepEqual(found.results[0]?.['metadata'], { n: 10n ** 30n });
  });

  test('are distinguished from their neighbours by every operator, indexed or not', async () => {
    for (const [at, value] of neighbours.entries()) {
      const metadata = { status: value, n: value, technologies: [value], list: [value] };
      await server.store('neighbours', `${at}`, { metadata });
    }
    const found = async (key: string, ...filters: [operator: string, value: unknown][]) => {
      const conditions = filters.map(([operator, value]) => ({ key, operator, value }));
      const answer = await exactly('search_context', { thread_id: 'neighbours', metadata_filters: conditions });
      assert.equal(answer['error'], undefined, JSON.stringify(answer));
      return answer.results.map(({ text_content }) => text_content).sort();
    };
    for (const key of ['status', 'n']) {
      assert.deepEqual(await found(key, ['eq', big]), ['1'], key);
      assert.deepEqual(await found(key, ['ne', big]), ['0', '2'], key);
      assert.deepEqual(await found(key, ['gt', big]), ['2'], key);
      assert.deepEqual(await found(key, ['gte', big]), ['1', '2'], key);
      assert.deepEqual(await found(key, ['lt', big]), ['0'], key);
      assert.deepEqual(await found(key, ['lte', big]), ['0', '1'], key);
      assert.deepEqual(await found(key, ['in', [big, 5, big + 1n]]), ['1', '2'], key);
      assert.deepEqual(await found(key, ['not_in', [big, 5, 'x']]), ['0', '2'], key);
      assert.deepEqual(await found(key, ['gt', big - 1n], ['lt', big + 1n]), ['1'], key);
      assert.deepEqual(await found(key, ['gt', 1e18], ['lt', 1e19]), ['0', '1', '2'], key);
    }
    for (const key of ['technologies', 'list']) assert.deepEqual(await found(key, ['array_contains', big]), ['1'], key);
    const { hint } = await exactly('search_context', { metadata: { n: String(big) } });
    assert.match(String(hint), new RegExp(`eq ${big} matches`));
  });

  test('make a different call under the same idempotency key', async () => {
    const entry = { thread_id: 'once', source: 'user', text: 'x', idempotency_key: 'once' };
    await server.call('store_context', { ...entry, metadata: { n: big } });
    assert.match(await server.fail('store_context', { ...entry, metadata: { n: big + 1n } }), /already used/);
    await server.call('store_context', { ...entry, metadata: { n: big } });
  });

  test('are rejected by name if invalid or impossible to store', async () => {
    const entry = { thread_id: 'refused', source: 'user', text: 'x' };
    const message = await server.fail('store_context', { ...entry, metadata: '{"a":{"b":[1,-1e400]}}' });
    assert.equal(message, 'metadata.a.b[1] exceeds 1.8e308 and cannot be stored; send it as text');
    const images = '[{"data":"YWJj","metadata":{"a":1e400}}]';
    assert.match(await server.fail('store_context', { ...entry, images }), /^images\[0\]\.metadata\.a exceeds/);
    const filters = '[{"key":"a","operator":"gt","value":1e400}]';
    const { validation_errors: faults } = await server.call('search_context', { metadata_filters: filters });
    assert.match(String(faults), /exceeds 1.8e308/);
    assert.match(await server.fail('get_context_by_ids', { context_ids: [big] }), /context_ids\[0\] must be/);
    assert.match(await server.fail('search_context', { limit: big }), /limit must be/);
  });
}
