import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { finance, makeHome } from '../acceptance/fess/bridge.ts';
import { generateCorpus } from '../fakes/fess/corpus.ts';
import type { RecordedRequest } from '../fakes/fess/recorded-request.ts';
import { startFakeFess } from '../fakes/fess/start-fake-fess.ts';
import { carrelProgram, startListening } from '../support/child-program.ts';
import { openSession, type RawAnswer, type RawSession } from '../support/raw-http.ts';
import { size } from '../support/sizes.ts';

const sessionCount = size({ quick: 200, full: 500 });
const running = size({ quick: 12, full: 32 });
const waiting = running * 8;
/** Peak memory of the whole process. Without sessions it takes a third of this. */
const memoryBytesMax = 350 * 1024 * 1024;

test(`${sessionCount} sessions with slow calls: exact accounting, bounded memory, nothing left after cancelling`, async (t) => {
  const fess = await startFakeFess({ version: '15.4', ...generateCorpus({ documentsPerLabel: 5 }) });
  t.after(() => fess.close());
  const config = {
    fessBaseUrl: fess.url,
    domain: finance,
    limits: { maxInFlightRequests: running },
    timeouts: { longRunningThresholdMs: 500 },
  };
  const program = await startListening(carrelProgram, ['fess'], { HOME: makeHome(t, config) });
  t.after(async () => void (await program.stop()));
  const sessions: RawSession[] = [];
  for (let opened = 0; opened < sessionCount; opened += 50) {
    sessions.push(...(await Promise.all(Array.from({ length: 50 }, () => openSession(program.url, '2025-03-26')))));
  }

  for (const round of [1, 2]) {
    const upstream: RecordedRequest[] = [];
    const open = { now: 0, most: 0 };
    const allRun = Promise.withResolvers<void>();
    fess.onRequest((request) => {
      if (request.query.get('q') !== `round${round}`) return;
      upstream.push(request);
      open.now += 1;
      open.most = Math.max(open.most, open.now);
      if (open.now === running) allRun.resolve();
      void request.finished.then(() => {
        open.now -= 1;
      });
    });
    fess.setFault({ kind: 'hang', path: `q=round${round}` });
    const answers = await Promise.all(
      sessions.map((session) => session.call('slow', 'fess_finance_search', { query: `round${round}` })),
    );
    const refused = answers.filter((answer) => codeOf(answer) === -32_001);
    const handles = answers.filter((answer) => jobOf(answer) !== undefined);
    assert.deepEqual([handles.length, refused.length], [running + waiting, sessionCount - running - waiting]);
    await allRun.promise;

    await Promise.all(
      sessions.map((session) =>
        session.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'slow' } }),
      ),
    );
    assert.deepEqual(new Set(await Promise.all(upstream.map(({ finished }) => finished))), new Set(['closed']));
    const states = await Promise.all(
      sessions.map(async (session, index) => {
        const jobId = jobOf(answers[index]);
        if (jobId === undefined) return 'none';
        const answer = await session.call('ask', 'fess_finance_job_get', { jobId });
        const view = answer.messages[0]?.result?.['structuredContent'] as { state: string } | undefined;
        return view?.state;
      }),
    );
    assert.deepEqual(new Set(states), new Set(['cancelled', 'none']));
    fess.setFault(null);
    const again = await Promise.all(
      sessions.slice(0, running).map((session) => session.call('x', 'fess_finance_health')),
    );
    assert.deepEqual(open, { now: 0, most: running });
    assert.ok(again.every((answer) => answer.messages[0]?.error === undefined));
  }
  assert.ok(fess.openSockets() <= running, `${fess.openSockets()} connections to Fess are open`);
  assert.ok(program.memory().peak < memoryBytesMax, `${program.memory().peak} bytes`);
  program.process.kill('SIGTERM');
  const [code] = await once(program.process, 'close');
  assert.equal(code, 0);
});

function codeOf(answer: RawAnswer): number | undefined {
  return answer.messages[0]?.error?.code;
}

function jobOf(answer: RawAnswer | undefined): string | undefined {
  return (answer?.messages[0]?.result?.['structuredContent'] as { jobId?: string } | undefined)?.jobId;
}
