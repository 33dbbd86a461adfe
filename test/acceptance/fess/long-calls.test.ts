import assert from 'node:assert/strict';
import { afterEach, before, describe, test } from 'node:test';
import { until } from '../../support/pause.ts';
import type { Message } from '../../support/stdio-client.ts';
import { verifies } from '../../support/verifies.ts';
import { dataOf, documentAt, documentUri, openWorld, type Peer, type World, wholeFile } from './bridge.ts';

const soon = { timeouts: { longRunningThresholdMs: 100 } };

interface ProgressNote {
  progressToken: string;
  progress: number;
  total?: number;
  message?: string;
}

function notesOf(messages: readonly Message[], token: string): ProgressNote[] {
  return messages
    .filter((message) => message['method'] === 'notifications/progress')
    .map((message) => message['params'] as unknown as ProgressNote)
    .filter(({ progressToken }) => progressToken === token);
}

function assertIncreasing(notes: readonly ProgressNote[]): void {
  assert.ok(notes.length >= 2);
  for (const [index, { progress }] of notes.entries()) {
    assert.ok(index === 0 || progress > (notes[index - 1]?.progress ?? 0), JSON.stringify(notes));
  }
}

/** Polls until the job is in one of the states. Returns every status seen. */
async function poll(peer: Peer, jobId: unknown, states: readonly string[]): Promise<Record<string, unknown>[]> {
  const seen: Record<string, unknown>[] = [];
  return until(async () => {
    const view = dataOf(await peer.call('job_get', { jobId }));
    seen.push(view);
    return states.includes(String(view['state'])) && seen;
  });
}

for (const { transport, version } of [
  { transport: 'stdio', version: '15.4' },
  { transport: 'http', version: '15.8' },
] as const) {
  describe(`a long call over ${transport} to Fess ${version}`, () => {
    const owner = wholeFile();
    let world: World;
    before(async () => {
      const contentFetch = { allowPrivateNetworkTargets: true };
      world = await openWorld(owner, { transport, version, config: { ...soon, contentFetch } });
    });
    afterEach(() => {
      world.fess.setFault(null);
      world.fess.setDocuments(world.corpus.documents);
    });

    verifies(
      [
        '001 AT-TOOL-008',
        '001 AT-ASYNC-001',
        '001 AT-ASYNC-002',
        '000 §7.4 slow search',
        '000 §9.1 job',
        '000 §9.2 progress',
        '000 §9.3 job_get',
      ],
      'a slow search becomes a job that reports progress and keeps its result',
      async () => {
        const { fess, peer } = world;
        fess.setFault({ kind: 'hold', path: 'q=test' });
        const handle = dataOf(await peer.call('search', { query: 'test' }, { progressToken: 'token' }));
        assert.deepEqual(Object.keys(handle).sort(), ['jobId', 'message', 'state']);
        assert.equal(handle['state'], 'running');
        const [early] = await poll(peer, handle['jobId'], ['running']);
        for (const name of ['progress', 'startedAt', 'updatedAt']) assert.ok(early && name in early, name);
        // Progress continues while Fess is silent.
        await peer.next(() => notesOf(peer.messages, 'token').length >= 3);
        fess.setFault(null);
        fess.release();
        const seen = await poll(peer, handle['jobId'], ['done', 'failed']);
        const last = seen.at(-1) ?? {};
        assert.equal(last['state'], 'done');
        assert.deepEqual([last['progress'], last['total'], last['message']], [100, 100, 'done']);
        assert.equal((last['result'] as { total: number }).total, 40);
        const values = [early, ...seen].map((view) => Number(view?.['progress']));
        assert.deepEqual(
          values,
          values.toSorted((a, b) => a - b),
        );
        assert.ok(String(last['startedAt']) <= String(last['updatedAt']));
        await peer.next(() => notesOf(peer.messages, 'token').at(-1)?.progress === 100);
        assertIncreasing(notesOf(peer.messages, 'token'));
      },
    );

    verifies(
      ['001 AT-RES-005', '000 §9.1 job'],
      'a slow resource read returns a handle, and its job the contents',
      async () => {
        const { fess, site, peer } = world;
        fess.setDocuments([documentAt(`${site.url}/plain.txt`)]);
        fess.setFault({ kind: 'hold', path: 'doc_id' });
        const uri = `${documentUri}/content`;
        const read = await peer.request('resources/read', { uri, _meta: { progressToken: 'reading' } });
        const { contents, _meta: meta } = read.result as {
          contents: { uri: string; mimeType: string; text: string }[];
          _meta: { jobId: string };
        };
        assert.deepEqual([contents[0]?.uri, contents[0]?.mimeType], [uri, 'application/json']);
        assert.equal(JSON.parse(contents[0]?.text ?? '').jobId, meta.jobId);
        fess.setFault(null);
        fess.release();
        const seen = await poll(peer, meta.jobId, ['done', 'failed']);
        const result = seen.at(-1)?.['result'] as { contents: { text: string }[]; isLast: boolean };
        assert.deepEqual([result.contents[0]?.text, result.isLast], ['Plain text.\nGrüße, 世界.\n', true]);
        await peer.next(() => notesOf(peer.messages, 'reading').at(-1)?.progress === 100);
        assertIncreasing(notesOf(peer.messages, 'reading'));
      },
    );

    verifies(['001 AT-ASYNC-003', '000 §9.4 cancel'], 'a job is cancelled by the id of its request', async () => {
      const { fess, peer } = world;
      fess.setFault({ kind: 'hang', path: 'q=test' });
      const arrived = fess.nextRequest('q=test');
      const { jobId } = dataOf(await peer.call('search', { query: 'test' }, { id: 'the-search' }));
      const upstream = await arrived;
      await peer.notify('notifications/cancelled', { requestId: 'the-search' });
      assert.equal(await upstream.finished, 'closed');
      assert.equal((await poll(peer, jobId, ['cancelled', 'done', 'failed'])).at(-1)?.['state'], 'cancelled');
    });

    test('with wait the request stays open instead of becoming a job (contract §4)', async () => {
      world.fess.setFault({ kind: 'slow', delayMs: 400, path: 'q=test' });
      assert.equal(dataOf(await world.peer.call('search', { query: 'test', wait: true }))['total'], 40);
    });
  });
}

for (const transport of ['stdio', 'http'] as const) {
  verifies(
    ['001 AT-ASYNC-003', '000 §9.4 cancel', '000 §9.4 silence'],
    `a cancelled search closes its connection to Fess and is never answered, and a cancelled read stops fetching (${transport})`,
    async (t) => {
      const contentFetch = { allowPrivateNetworkTargets: true };
      const { fess, site, peer } = await openWorld(t, { transport, config: { contentFetch } });
      fess.setFault({ kind: 'hang', path: 'q=test' });
      const arrived = fess.nextRequest('q=test');
      const ended = peer.fire('tools/call', { name: 'fess_finance_search', arguments: { query: 'test' } }, 123);
      const upstream = await arrived;
      await peer.notify('notifications/cancelled', { requestId: 123, reason: 'changed my mind' });
      assert.equal(await upstream.finished, 'closed');
      assert.equal(await ended, undefined);
      assert.equal((await peer.request('ping')).error, undefined);
      assert.ok(!peer.messages.some((message) => message['id'] === 123));
      fess.setFault(null);

      fess.setDocuments([documentAt(`${site.url}/silent`)]);
      const asked = Promise.withResolvers<void>();
      site.setPage('/silent', () => {
        asked.resolve();
        return { hangs: true };
      });
      void peer.fire('resources/read', { uri: `${documentUri}/content` }, 'read');
      await asked.promise;
      await peer.notify('notifications/cancelled', { requestId: 'read' });
      assert.equal(await site.requests.at(-1)?.finished, 'closed');
    },
  );
}

verifies('000 §10 timeout', 'a timeout fails the call, or its job with the reason', async (t) => {
  const { fess, peer } = await openWorld(t, {
    config: { timeouts: { fessRequestTimeoutMs: 400, longRunningThresholdMs: 50 } },
  });
  fess.setFault({ kind: 'hang', path: 'q=test' });
  const { error } = await peer.call('search', { query: 'test', wait: true });
  assert.deepEqual(
    [error?.code, error?.data?.['code'], error?.data?.['httpStatus'], error?.data?.['endpoint']],
    [-32_000, 'fess_timeout', null, '/api/v1/documents'],
  );
  const { jobId } = dataOf(await peer.call('search', { query: 'test' }));
  const last = (await poll(peer, jobId, ['done', 'failed'])).at(-1);
  assert.equal(last?.['state'], 'failed');
  const reason = last?.['error'] as Record<string, unknown>;
  assert.equal(reason['code'], 'fess_timeout');
  assert.match(String(reason['message']), /did not answer within 400 ms/);
});

verifies(
  ['000 §12 in flight', '001 AT-ASYNC-002'],
  'queues requests above maxInFlightRequests, rejects the rest as retryable, and still reports jobs',
  async (t) => {
    const world = await openWorld(t, {
      config: { limits: { maxInFlightRequests: 2 }, timeouts: { longRunningThresholdMs: 300 } },
    });
    const { fess, peer } = world;
    fess.setFault({ kind: 'hold', path: 'q=test' });
    const arrivals = { running: 0 };
    fess.onRequest((request) => {
      if (request.query.get('q') === 'test') arrivals.running += 1;
    });
    // Two run and sixteen wait; a resource counts like a tool.
    const calls = Array.from({ length: 18 }, () => peer.call('search', { query: 'test' }));
    const refused = await peer.request('resources/list');
    assert.equal(refused.error?.code, -32_001);
    assert.deepEqual([refused.error?.data?.['code'], refused.error?.data?.['retryAfter']], ['too_many_in_flight', 1]);
    const handles = (await Promise.all(calls)).map(dataOf);
    assert.equal(arrivals.running, 2);
    const states = await Promise.all(handles.map(async ({ jobId }) => stateOf(world, jobId)));
    assert.deepEqual(
      [states.filter((state) => state === 'running').length, states.filter((state) => state === 'queued').length],
      [2, 16],
    );
    fess.setFault(null);
    fess.release();
    for (const { jobId } of handles) {
      assert.equal((await poll(peer, jobId, ['done', 'failed', 'cancelled'])).at(-1)?.['state'], 'done');
    }
  },
);

async function stateOf({ peer }: World, jobId: unknown): Promise<unknown> {
  return dataOf(await peer.call('job_get', { jobId }))['state'];
}
