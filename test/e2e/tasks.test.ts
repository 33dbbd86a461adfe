import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createTaskSessionFromClient, resultFromTaskOutcome } from '@modelcontextprotocol/ext-tasks/client';
import { startFakeEngine } from '../fakes/kb-engine/start-fake-engine.ts';
import {
  cleanEnv,
  echoProgram,
  type ListeningProgram,
  makeFolder,
  startCarrel,
  startListening,
} from '../support/child-program.ts';
import { pause } from '../support/pause.ts';
import { pythonWith } from '../support/python-clients.ts';
import { exchange, modernRequest, openStream } from '../support/raw-http.ts';

const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities';
const withTasks = { extensions: { 'io.modelcontextprotocol/tasks': {} } };

const ownToken = 'token-of-the-one-caller';
const otherToken = 'token-of-the-other-caller';

const python = pythonWith('clients');
const script = fileURLToPath(new URL('clients/python/do_tasks.py', import.meta.url));

type Fields = Record<string, unknown>;

/** Returns the result of a request, or its error. */
async function ask(
  url: string,
  method: string,
  params: Fields,
  { capabilities = withTasks, token = ownToken }: { capabilities?: object; token?: string } = {},
): Promise<Fields> {
  const { headers, message } = modernRequest(method, { ...params, _meta: { [capabilitiesKey]: capabilities } });
  const authorization = `Bearer ${token}`;
  const answer = await exchange(url, { headers: { ...headers, authorization }, body: JSON.stringify(message) });
  const { result, error } = answer.messages[0] ?? {};
  return (result ?? error) as Fields;
}

function call(url: string, name: string, args: Fields, capabilities: object = withTasks): Promise<Fields> {
  return ask(url, 'tools/call', { name, arguments: args }, { capabilities });
}

async function ended(url: string, taskId: unknown): Promise<Fields> {
  for (;;) {
    const task = await ask(url, 'tasks/get', { taskId });
    if (task['status'] !== 'working') return task;
    await pause(20);
  }
}

describe('tasks (2026-07-28, io.modelcontextprotocol/tasks)', { timeout: 300_000 }, () => {
  let program: ListeningProgram;
  let folder: string;
  const cleanUps: (() => void)[] = [];
  const start = () =>
    startListening(echoProgram, [
      ...['--tasks', join(folder, 'tasks')],
      ...['--token', ownToken, '--other-token', otherToken],
    ]);
  before(async () => {
    folder = makeFolder({ after: (cleanUp: () => void) => void cleanUps.push(cleanUp) });
    program = await start();
  });
  after(async () => {
    await program.stop();
    for (const cleanUp of cleanUps) cleanUp();
  });

  it('a slow call is a task from its start to its result, or to its failure', async () => {
    const { url } = program;
    const started = await call(url, 'dig', { marker: 'gold', delay_ms: 1_500 });
    assert.equal(started['resultType'], 'task');
    const working = await ask(url, 'tasks/get', { taskId: started['taskId'] });
    assert.deepEqual([working['status'], working['statusMessage']], ['working', 'digging (1 of 2)']);
    const { status, result } = await ended(url, started['taskId']);
    assert.deepEqual([status, (result as Fields)['structuredContent']], ['completed', { marker: 'gold' }]);
    const broken = await call(url, 'dig', { marker: 'rock', delay_ms: 100, fails: true });
    const failed = await ended(url, broken['taskId']);
    assert.deepEqual([failed['status'], (failed['result'] as Fields)['isError']], ['completed', true]);
  });

  it('quick calls, calls that wait, and clients without the extension get no task', async () => {
    const { url } = program;
    const quick = await call(url, 'dig', { marker: 'q', delay_ms: 0 });
    const waited = await call(url, 'dig', { marker: 'w', delay_ms: 100, wait: true });
    for (const { resultType, structuredContent } of [quick, waited]) {
      assert.deepEqual([resultType, Object.keys(structuredContent as Fields)], ['complete', ['marker']]);
    }
    const old = await call(url, 'dig', { marker: 'o', delay_ms: 100 }, {});
    assert.deepEqual(Object.keys(old['structuredContent'] as Fields), ['jobId', 'state', 'message']);
    const refused = await ask(url, 'tasks/get', { taskId: 'x' }, { capabilities: {} });
    assert.equal(refused['code'], -32_021);
  });

  it('cancelling stops the work; finished tasks stay as they are', async () => {
    const { url } = program;
    const { taskId } = await call(url, 'dig', { marker: 'coal', delay_ms: 60_000 });
    const acknowledged = await ask(url, 'tasks/cancel', { taskId });
    assert.equal(acknowledged['resultType'], 'complete');
    await program.waitForOutput(/aborted coal/);
    assert.equal((await ended(url, taskId))['status'], 'cancelled');
    const races = await Promise.all(
      Array.from({ length: 6 }, async (_, n) => {
        const task = await call(url, 'dig', { marker: `race${n}`, delay_ms: 80 + n * 5 });
        await Promise.all([ask(url, 'tasks/cancel', task), ask(url, 'tasks/cancel', task)]);
        const first = (await ended(url, task['taskId']))['status'];
        await program.waitForOutput(new RegExp(`(?:aborted|finished) race${n}\\b`));
        return [first, (await ended(url, task['taskId']))['status']];
      }),
    );
    for (const [first, later] of races)
      assert.ok(first === later && ['cancelled', 'completed'].includes(String(first)));
  });

  it('another caller learns nothing of a task and cannot touch it', async () => {
    const { url } = program;
    const { taskId } = await call(url, 'dig', { marker: 'silver', delay_ms: 60_000 });
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const foreign = await ask(url, method, { taskId, inputResponses: {} }, { token: otherToken });
      const absent = await ask(url, method, { taskId: 'A'.repeat(32), inputResponses: {} });
      assert.deepEqual(foreign, absent);
      assert.equal(foreign['code'], -32_602);
    }
    assert.equal((await ask(url, 'tasks/get', { taskId }))['status'], 'working');
    await ask(url, 'tasks/cancel', { taskId });
  });

  it("listeners are notified of their task's state, with its result", async () => {
    const { url } = program;
    const { taskId } = await call(url, 'dig', { marker: 'jade', delay_ms: 800 });
    const listen = (token: string) => {
      const meta = { [capabilitiesKey]: withTasks };
      const { headers, message } = modernRequest('subscriptions/listen', {
        notifications: { taskIds: [taskId] },
        _meta: meta,
      });
      return openStream(url, { ...headers, authorization: `Bearer ${token}` }, message);
    };
    const [own, foreign] = await Promise.all([listen(ownToken), listen(otherToken)]);
    await foreign.ended;
    const [acknowledged] = foreign.messages();
    assert.deepEqual(((acknowledged?.params ?? {}) as Fields)['notifications'], {});
    const last = (): Fields => (own.messages().at(-1)?.params ?? {}) as Fields;
    while (last()['status'] !== 'completed') await pause(20);
    assert.equal(own.messages().at(-1)?.method, 'notifications/tasks');
    assert.deepEqual((last()['result'] as Fields)['structuredContent'], { marker: 'jade' });
    own.close();
  });

  it('above the limit per caller, calls are answered without a task', async () => {
    const { url } = program;
    const dig = (marker: string) => ({ name: 'dig', arguments: { marker, delay_ms: 200 } });
    const answers = await Promise.all(
      // The other caller has no tasks yet.
      Array.from({ length: 40 }, (_, n) => ask(url, 'tools/call', dig(`m${n}`), { token: otherToken })),
    );
    assert.equal(answers.filter(({ taskId }) => taskId !== undefined).length, 20);
    assert.ok(
      answers.every(({ taskId, structuredContent }) => (taskId === undefined) !== (structuredContent === undefined)),
    );
  });

  it('after kill -9 and a restart, results remain, and interrupted tasks say so', async () => {
    const { url } = program;
    const { taskId: whole } = await call(url, 'dig', { marker: 'kept', delay_ms: 100 });
    await ended(url, whole);
    const { taskId: broken } = await call(url, 'dig', { marker: 'lost', delay_ms: 60_000 });
    const next = await restarted();
    assert.deepEqual(((await ended(next.url, whole))['result'] as Fields)['structuredContent'], { marker: 'kept' });
    const { status, error } = await ended(next.url, broken);
    assert.deepEqual([status, (error as Fields)['data']], ['failed', { code: 'interrupted' }]);
  });

  it('the official client and its task package complete one task and cancel another', async () => {
    const { url } = program;
    const headers = { authorization: `Bearer ${ownToken}` };
    const clientInfo = { name: 'test', version: '1.0.0' };
    const client = new Client(clientInfo, {
      capabilities: withTasks,
      versionNegotiation: { mode: { pin: '2026-07-28' } },
    });
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
    const session = createTaskSessionFromClient(client, {
      endpointId: 'echo',
      // The client's schemas don't include tasks; its package needs a function that sends raw requests.
      async rawDispatch(request) {
        const { method, params } = request as { method: string; params: Fields };
        const answer = await ask(url, method, params);
        return 'code' in answer
          ? { kind: 'error', error: answer as never }
          : { kind: 'result', result: answer as never };
      },
      v2RequestFraming: { protocolVersion: '2026-07-28', clientInfo, clientCapabilities: withTasks },
    });
    const whole = await session.callTool('dig', { marker: 'pearl', delay_ms: 200 });
    const { outcome } = await whole.settle();
    assert.deepEqual((resultFromTaskOutcome(outcome) as Fields)['structuredContent'], { marker: 'pearl' });
    const stopped = await session.callTool('dig', { marker: 'amber', delay_ms: 60_000 });
    const ending = stopped.settle();
    await stopped.cancel();
    await program.waitForOutput(/aborted amber/);
    assert.equal((await ending).outcome.status, 'cancelled');
    await session.close();
    await client.close();
  });

  it('the official Python client completes a task too', {
    skip: 'obstacle' in python ? python.obstacle : false,
  }, async () => {
    assert.ok('python' in python);
    const child = spawn(python.python, [script, program.url, ownToken], { env: cleanEnv(folder) });
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    assert.ok(stdout.startsWith('['), stderr.slice(-3000));
    assert.deepEqual(JSON.parse(stdout), ['working', 'completed', { marker: 'clay' }, 'working', 'cancelled', null]);
  });

  async function restarted(): Promise<ListeningProgram> {
    program.process.kill('SIGKILL');
    await program.exited;
    program = await start();
    return program;
  }
});

test('an ingestion is followed as a task across kill -9, and cancelled through it', { timeout: 300_000 }, async (t) => {
  const engine = await startFakeEngine(t, { holdsJobs: true });
  const options = { env: { KB_ENGINE_URL: engine.origin } };
  const first = await startCarrel(t, ['kb'], options);
  const [kept, dropped] = await Promise.all(
    ['One note', 'Another note'].map((text) => call(first.url, 'kb_addnote', { text })),
  );
  assert.equal(kept?.['resultType'], 'task');
  first.process.kill('SIGKILL');
  await first.exited;
  const { url } = await startCarrel(t, ['kb'], { ...options, folder: first.folder, dataDir: first.dataDir });
  const working = await ask(url, 'tasks/get', { taskId: kept['taskId'] });
  assert.deepEqual([working['status'], working['statusMessage']], ['working', 'Ingesting: starting.']);
  for (const job of engine.jobs) job.status = 'done';
  const { status, result } = await ended(url, kept['taskId']);
  const { status: ingested, document_id: id } = (result as Fields)['structuredContent'] as Fields;
  assert.deepEqual([status, ingested, engine.documents.has(Number(id))], ['completed', 'done', true]);
  await ask(url, 'tasks/cancel', { taskId: dropped?.['taskId'] });
  assert.equal((await ended(url, dropped?.['taskId']))['status'], 'cancelled');
});
