import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { generateCorpus } from '../../../../test/fakes/fess/corpus.ts';
import { startDocumentSite } from '../../../../test/fakes/fess/document-site.ts';
import { type Fault, leakyText } from '../../../../test/fakes/fess/faults.ts';
import { type FakeFess, startFakeFess } from '../../../../test/fakes/fess/start-fake-fess.ts';
import type { CarrelError } from '../../../base/errors.ts';
import { createFessApi, type DetectingFessApi } from './create-fess-api.ts';

const label = 'hr';
const token = 'secret-token-0123456789';
const config = { userAgent: 'carrel/test', timeoutMs: 60_000, accessToken: token, answerBytesMax: 512 * 1024 };

describe('failures on the way to Fess', () => {
  let fess: FakeFess;
  let api: DetectingFessApi;
  /** Has a short timeout, for calls that should time out. All others have a long one, so a busy machine changes nothing. */
  let hasty: DetectingFessApi;
  before(async () => {
    fess = await startFakeFess({ version: '15.4', ...generateCorpus(), tokens: { [token]: ['Rguest'] } });
    api = createFessApi({ ...config, baseUrl: fess.url });
    hasty = createFessApi({ ...config, baseUrl: fess.url, timeoutMs: 100 });
  });
  afterEach(() => fess.setFault(null));
  after(async () => {
    api.close();
    hasty.close();
    await fess.close();
  });

  const search = (signal?: AbortSignal) => api.search({ label, query: 'test' }, signal === undefined ? {} : { signal });
  const faults: [fault: Fault, code: string, httpStatus: number | null, reason: string | undefined][] = [
    [{ kind: 'html' }, 'fess_error', 200, 'not_json'],
    [{ kind: 'broken-json' }, 'fess_error', 200, 'not_json'],
    [{ kind: 'foreign-json' }, 'fess_error', 200, 'unexpected_shape'],
    [{ kind: 'redirect' }, 'fess_error', 302, 'api_missing'],
    [{ kind: 'rate-limited', retryAfterSeconds: 17 }, 'fess_error', 429, 'rate_limited'],
    [{ kind: 'ip-blocked' }, 'fess_error', 403, 'refused_address'],
    [{ kind: 'error', status: 401 }, 'fess_error', 401, 'refused_token'],
    [{ kind: 'error', status: 500 }, 'fess_error', 500, 'server_failed'],
    [{ kind: 'error', status: 500, withStack: true }, 'fess_error', 500, 'server_failed'],
    [{ kind: 'truncated' }, 'fess_error', 200, 'answer_incomplete'],
    [{ kind: 'huge', bytes: 4 * 1024 * 1024 }, 'fess_error', 200, 'answer_too_large'],
    [{ kind: 'hang' }, 'fess_timeout', null, undefined],
    [{ kind: 'stall' }, 'fess_timeout', null, undefined],
    [{ kind: 'reset' }, 'fess_unreachable', null, undefined],
  ];
  for (const [fault, code, httpStatus, reason] of faults) {
    const name = `${fault.kind}${'withStack' in fault ? ' with stack' : ''}`;
    test(`${name} is ${code} ${reason ?? ''} and leaks nothing (AT-ERR-002, contract §4)`, async () => {
      fess.setFault({ ...fault, path: '/documents' });
      const error = await failure((code === 'fess_timeout' ? hasty : api).search({ label, query: 'test' }));
      assert.equal(error.code, code);
      assert.equal(error.data['httpStatus'], httpStatus);
      assert.equal(error.data['endpoint'], '/api/v1/documents');
      assert.equal(error.data['fault'], reason);
      assertClean(error, fess.url);
    });
  }

  test('passes on Retry-After and the error id of Fess', async () => {
    fess.setFault({ kind: 'rate-limited', retryAfterSeconds: 17 });
    assert.equal((await failure(search())).retryAfterSeconds, 17);
    fess.setFault({ kind: 'error', status: 500 });
    assert.match(String((await failure(search())).data['errorId']), /^[0-9a-f-]{36}$/);
  });

  test('keeps the original message of Fess in the cause, for the log', async () => {
    fess.setFault({ kind: 'error', status: 500, withStack: true });
    assert.match(String((await failure(search())).cause), /opensearch-0\.internal/);
  });

  for (const kind of ['hang', 'stall'] as const) {
    test(`cancelling a call that meets a ${kind} closes its connection (000 §9.4)`, async () => {
      await search();
      fess.setFault({ kind });
      const arrived = fess.nextRequest('/documents');
      const abort = new AbortController();
      const call = failure(search(abort.signal));
      const request = await arrived;
      abort.abort();
      assert.equal((await call).code, 'cancelled');
      assert.equal(await request.finished, 'closed');
      assert.equal(fess.requests.at(-1), request, 'nothing was sent again');
    });
  }

  test('a call cancelled before it starts sends nothing', async () => {
    const count = fess.requests.length;
    assert.equal((await failure(search(AbortSignal.abort()))).code, 'cancelled');
    assert.equal(fess.requests.length, count);
  });

  test('a timeout closes the connection too', async () => {
    fess.setFault({ kind: 'hang' });
    const arrived = fess.nextRequest('/documents');
    // On a busy machine the call may time out before its request arrives.
    let request: Awaited<typeof arrived> | undefined;
    while (request === undefined) {
      const call = failure(hasty.search({ label, query: 'test' }));
      request = await Promise.race([arrived, call.then(() => undefined)]);
      assert.equal((await call).code, 'fess_timeout');
    }
    assert.equal(await request.finished, 'closed');
  });

  test('follows no redirect, and sends the token only to Fess', async (t) => {
    const elsewhere = await startDocumentSite();
    t.after(() => elsewhere.close());
    fess.setFault({ kind: 'redirect', location: `${elsewhere.url}/page.html` });
    await failure(search());
    assert.equal(elsewhere.requests.length, 0);
    assert.equal(fess.requests.at(-1)?.headers.authorization, `Bearer ${token}`);
    assert.equal(fess.requests.at(-1)?.headers['user-agent'], 'carrel/test');
  });

  test('reuses connections, and replaces one that the server dropped', async () => {
    const api = createFessApi({ ...config, baseUrl: fess.url });
    await api.search({ label, query: 'test' });
    const open = fess.openSockets();
    await api.search({ label, query: 'test' });
    assert.equal(fess.openSockets(), open);
    fess.setFault({ kind: 'reset', times: 1 });
    assert.equal((await api.search({ label, query: 'test' })).total, 40);
    api.close();
  });
});

test('an unreachable server is fess_unreachable, with the endpoint and no status (AT-ERR-002)', async () => {
  const fess = await startFakeFess({ version: '15.4' });
  await fess.close();
  const api = createFessApi({ ...config, baseUrl: fess.url });
  const error = await failure(api.search({ label, query: 'test' }));
  const data = { httpStatus: null, endpoint: '/api/v1/documents', message: error.message };
  assert.deepEqual([error.code, error.data], ['fess_unreachable', data]);
  assertClean(error, fess.url);
  assert.equal((await failure(api.detect())).code, 'fess_unreachable');
  api.close();
});

test('v2 errors omit the original message, which leaks details', async (t) => {
  const fess = await startFakeFess({ version: '15.8', ...generateCorpus() });
  t.after(() => fess.close());
  const api = createFessApi({ ...config, baseUrl: fess.url, fessApi: 'v2', accessToken: 'wrong' });
  t.after(() => api.close());
  const error = await failure(api.search({ label, query: 'test' }));
  assert.deepEqual([error.data['fault'], error.data['httpStatus']], ['refused_token', 401]);
  const guest = createFessApi({ userAgent: 'x', timeoutMs: 60_000, baseUrl: fess.url, fessApi: 'v2' });
  t.after(() => guest.close());
  const refused = await failure(guest.search({ label, query: 'test', sort: 'nothing.asc' }));
  assert.equal(refused.data['fault'], 'refused_request');
  assert.match(String(refused.cause), /opensearch-0\.internal/);
  assertClean(refused, fess.url);
});

async function failure(call: Promise<unknown>): Promise<CarrelError> {
  return (await call.then(
    () => assert.fail('did not fail'),
    (reason: unknown) => reason,
  )) as CarrelError;
}

function assertClean(error: CarrelError, url: string): void {
  const said = `${error.message} ${JSON.stringify(error.data)}`;
  for (const part of [
    leakyText.slice(0, 40),
    'opensearch',
    'Radmin',
    'Rguest',
    '.java',
    new URL(url).host,
    '127.0.0.1',
    token,
  ]) {
    assert.equal(said.includes(part), false, `says ${part}: ${said}`);
  }
}
