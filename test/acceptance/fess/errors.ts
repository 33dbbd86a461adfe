import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { leakyText } from '../../fakes/fess/faults.ts';
import type { FakeFessOptions } from '../../fakes/fess/start-fake-fess.ts';
import { verifies } from '../../support/verifies.ts';
import { dataOf, paths, type World } from './bridge.ts';

type Fault = Parameters<World['fess']['setFault']>[0];

/** `world` has the access token `token-of-the-bridge`, and its bridge knows the version of Fess. */
export function failuresOfFess(version: FakeFessOptions['version'], world: () => World): void {
  const path = paths(version);

  verifies(
    ['001 AT-ERR-002', '000 §10 fess', '000 §11 secrets'],
    'reports every failure of Fess with status, endpoint and our own message',
    async () => {
      const faults: [Fault, number, number][] = [
        [{ kind: 'error', status: 500, withStack: true }, 500, -32_000],
        [{ kind: 'error', status: 400, withStack: true }, 400, -32_000],
        [{ kind: 'error', status: 401 }, 401, -32_000],
        [{ kind: 'ip-blocked' }, 403, -32_000],
        [{ kind: 'rate-limited', retryAfterSeconds: 7 }, 429, -32_000],
        [{ kind: 'html' }, 200, -32_000],
        [{ kind: 'broken-json' }, 200, -32_000],
        [{ kind: 'foreign-json' }, 200, -32_000],
        [{ kind: 'redirect' }, 302, -32_000],
        [{ kind: 'truncated' }, 200, -32_000],
      ];
      for (const [fault, status, code] of faults) {
        world().fess.setFault({ ...(fault as object), path: path.search } as Fault);
        const { error } = await world().peer.call('search', { query: 'test' });
        const shown = `${JSON.stringify(fault)}: ${JSON.stringify(error)}`;
        assert.equal(error?.code, code, shown);
        const { data = {} } = error ?? {};
        assert.deepEqual(
          [data['code'], data['httpStatus'], data['endpoint']],
          ['fess_error', status, path.search],
          shown,
        );
        assert.equal(data['message'], error?.message);
        if (status === 429) assert.equal(data['retryAfter'], 7);
        for (const leak of [leakyText, 'opensearch', 'java', new URL(world().fess.url).host, 'token-of-the-bridge']) {
          assert.ok(!JSON.stringify(error).includes(leak), shown);
        }
      }
      world().fess.setFault(null);
    },
  );

  verifies(['001 AT-ERR-002', '000 §10 fess'], 'every tool that calls Fess reports its failures', async () => {
    const calls: [string, object, string][] = [
      ['search', { query: 'a' }, path.search],
      ['suggest', { prefix: 'a' }, path.suggest],
      ['popular_words', {}, path.popular],
      ['list_labels', {}, path.labels],
      ['health', {}, path.health],
      ['read', { docId: 'abc' }, path.search],
    ];
    world().fess.setFault({ kind: 'error', status: 500 });
    for (const [tool, args, endpoint] of calls) {
      const { error } = await world().peer.call(tool, args);
      assert.deepEqual([error?.data?.['httpStatus'], error?.data?.['endpoint']], [500, endpoint], tool);
    }
    const listed = await world().peer.request('resources/list');
    assert.deepEqual([listed.error?.code, listed.error?.data?.['httpStatus']], [-32_000, 500]);
    const read = await world().peer.request('resources/read', { uri: 'fess://finance/doc/abc' });
    assert.deepEqual([read.error?.data?.['code'], read.error?.data?.['endpoint']], ['fess_error', path.search]);
    world().fess.setFault(null);
  });

  test('an outage behind Fess is never reported as "no results" (issue: outage)', async () => {
    world().fess.setHealth('down');
    for (const query of ['test', 'nothing-like-this']) {
      const { error } = await world().peer.call('search', { query });
      assert.equal(error?.data?.['code'], 'fess_error', query);
      assert.match(error?.message ?? '', /engine of Fess is down/);
    }
    world().fess.setHealth('green');
    const none = dataOf(await world().peer.call('search', { query: 'nothinglikethis' }));
    assert.deepEqual([none['total'], none['results']], [0, []]);
  });

  verifies('000 §11 secrets', 'sends the access token only to Fess', async () => {
    assert.equal(world().fess.requests.at(-1)?.headers.authorization, 'Bearer token-of-the-bridge');
    const log = readFileSync(join(world().home, '.mcp-feiss', 'log', 'server.log'), 'utf8');
    const everything = log + world().peer.program.stderrText() + JSON.stringify(world().peer.messages);
    assert.ok(!everything.includes('token-of-the-bridge'));
  });
}
