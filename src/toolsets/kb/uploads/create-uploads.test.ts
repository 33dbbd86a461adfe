import assert from 'node:assert/strict';
import { readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { makeFolder } from '../../../../test/support/child-program.ts';
import { CarrelError, type ErrorCode } from '../../../base/errors.ts';
import { silentLogger } from '../../../base/log.ts';
import type { Engine, Submission, SubmitOutcome } from '../../../engine/engine.ts';
import { type Call, localUser } from '../../../tools/call.ts';
import { createUploads, type Uploads, type UploadsConfig } from './create-uploads.ts';
import { createStaging, type Staging } from './staging.ts';

const minute = 60_000;

const defaults: UploadsConfig = {
  bytesMax: 1000,
  clientUploadsMax: 3,
  clientBytesMax: 1500,
  uploadsMax: 5,
  stagingBytesMax: 2500,
  idleMs: 10 * minute,
  survivesRestart: true,
};

/** Uploads that submit files to the fixture's engine. */
type TestUploads = Omit<Uploads, 'finish'> & { finish(id: string, call: Call): ReturnType<Uploads['finish']> };

interface Fixture {
  uploads: TestUploads;
  folder: string;
  /** The files submitted to the engine. */
  submitted: { submission: Submission; bytes: Buffer }[];
  /** Advances the monotonic clock. */
  advance(ms: number): void;
  /** Makes the next submission fail. */
  failNext(error: Error): void;
  /** A second process on the same folder. */
  restart(config?: Partial<UploadsConfig>): TestUploads;
}

function open(t: TestContext, config: Partial<UploadsConfig> = {}, wrap = (staging: Staging) => staging): Fixture {
  const folder = makeFolder(t);
  let now = 1_000;
  let refusal: Error | undefined;
  const submitted: Fixture['submitted'] = [];
  const engine: Pick<Engine, 'submit'> = {
    async submit(submission): Promise<SubmitOutcome> {
      assert.ok('content' in submission);
      const parts: Uint8Array[] = [];
      for await (const part of submission.content) {
        if (refusal !== undefined) {
          const error = refusal;
          refusal = undefined;
          throw error;
        }
        parts.push(part);
      }
      submitted.push({ submission, bytes: Buffer.concat(parts) });
      return { accepted: true, job_id: submitted.length, status: 'queued', filename: submission.filename };
    },
  };
  const make = (more: Partial<UploadsConfig> = {}): TestUploads => {
    const staging = wrap(createStaging(folder));
    const made = createUploads({ ...defaults, ...config, ...more }, { staging, log: silentLogger, clock: () => now });
    t.after(() => made.close());
    return { ...made, finish: (id, call) => made.finish(id, call, engine) };
  };
  return {
    uploads: make(),
    folder,
    submitted,
    advance: (ms) => {
      now += ms;
    },
    failNext: (error) => {
      refusal = error;
    },
    restart: make,
  };
}

function call(id = 'me', signal = new AbortController().signal): Call {
  return { caller: { ...localUser, id, owner: id }, signal, report: () => {}, log: silentLogger };
}

const file = (totalSize: number) => ({ filename: 'a.txt', totalSize, tags: ['collection:documents'] });

async function fails(work: Promise<unknown>, code: ErrorCode): Promise<CarrelError> {
  const error: unknown = await work.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  assert.ok(error instanceof CarrelError, `no error of ours: ${String(error)}`);
  assert.equal(error.code, code, error.message);
  return error;
}

test('concurrent chunks in any order become one file, submitted once (003 Finish an upload)', async (t) => {
  const { uploads, submitted, folder } = open(t);
  const { id } = await uploads.start(file(26), 'me');
  const bytes = Buffer.from('abcdefghijklmnopqrstuvwxyz');
  const order = [5, 0, 12, 1, 11, 2, 10, 3, 9, 4, 8, 6, 7];
  await Promise.all(
    order.map((index) => uploads.addChunk(id, index, bytes.subarray(index * 2, index * 2 + 2), call())),
  );
  const first = await uploads.finish(id, call());
  assert.deepEqual(
    [first.outcome, first.tags],
    [{ accepted: true, job_id: 1, status: 'queued', filename: 'a.txt' }, ['collection:documents']],
  );
  assert.deepEqual(await uploads.finish(id, call()), first);
  assert.equal(submitted.length, 1);
  assert.equal(submitted[0]?.bytes.toString(), bytes.toString());
  assert.deepEqual(readdirSync(join(folder, id)), ['manifest.json']);
});

test('two concurrent calls to finish submit the file once', async (t) => {
  const { uploads, submitted } = open(t);
  const { id } = await uploads.start(file(3), 'me');
  await uploads.addChunk(id, 0, Buffer.from('abc'), call());
  const [one, other] = await Promise.all([uploads.finish(id, call()), uploads.finish(id, call())]);
  assert.deepEqual([one.outcome, submitted.length], [other.outcome, 1]);
});

test('accepts a repeated chunk and rejects other bytes under its index (contract §6)', async (t) => {
  const { uploads, submitted } = open(t);
  const { id } = await uploads.start(file(6), 'me');
  await uploads.addChunk(id, 0, Buffer.from('abc'), call());
  const restart = await uploads.addChunk(id, 0, Buffer.from('abc'), call());
  assert.deepEqual(restart, { receivedBytes: 3, totalSize: 6, chunks: 1 });
  await fails(uploads.addChunk(id, 0, Buffer.from('abd'), call()), 'upload_conflict');
  await fails(uploads.addChunk(id, 0, Buffer.from('ab'), call()), 'upload_conflict');
  await uploads.addChunk(id, 1, Buffer.from('def'), call());
  await uploads.finish(id, call());
  assert.equal(submitted[0]?.bytes.toString(), 'abcdef');
});

test('finish names missing chunks, and succeeds once they arrive', async (t) => {
  const { uploads } = open(t);
  const { id } = await uploads.start(file(8), 'me');
  assert.deepEqual((await fails(uploads.finish(id, call()), 'upload_incomplete')).data['missing_chunks'], [0]);
  await uploads.addChunk(id, 0, Buffer.from('ab'), call());
  await uploads.addChunk(id, 3, Buffer.from('gh'), call());
  const gaps = await fails(uploads.finish(id, call()), 'upload_incomplete');
  assert.deepEqual(gaps.data, { missing_chunks: [1, 2], received_bytes: 4, total_size: 8 });
  assert.match(gaps.message, /1, 2.*4 of 8/);
  await uploads.addChunk(id, 1, Buffer.from('cd'), call());
  await uploads.addChunk(id, 2, Buffer.from('e'), call());
  const short = await fails(uploads.finish(id, call()), 'upload_incomplete');
  assert.deepEqual([short.data['missing_chunks'], short.data['received_bytes']], [[4], 7]);
  await uploads.addChunk(id, 4, Buffer.from('f'), call());
  await uploads.finish(id, call());
});

test('reports a gap in the indexes of a complete file, and how to recover', async (t) => {
  const { uploads } = open(t);
  const { id } = await uploads.start(file(4), 'me');
  await uploads.addChunk(id, 1, Buffer.from('ab'), call());
  await uploads.addChunk(id, 2, Buffer.from('cd'), call());
  const refused = await fails(uploads.finish(id, call()), 'upload_incomplete');
  assert.match(refused.message, /missing: 0\. 4 of 4 bytes.*start again/);
});

test('rejects more bytes than announced or than the limit', async (t) => {
  const { uploads } = open(t);
  await fails(uploads.start(file(1001), 'me'), 'upload_too_large');
  const { id } = await uploads.start(file(4), 'me');
  await uploads.addChunk(id, 0, Buffer.from('abc'), call());
  await fails(uploads.addChunk(id, 1, Buffer.from('de'), call()), 'upload_too_large');
  await uploads.addChunk(id, 1, Buffer.from('d'), call());
});

test('keeps the upload if submitting fails, so that finish can be repeated', async (t) => {
  const { uploads, submitted, failNext } = open(t);
  const { id } = await uploads.start(file(3), 'me');
  await uploads.addChunk(id, 0, Buffer.from('abc'), call());
  failNext(new CarrelError('engine_unreachable', 'gone'));
  await fails(uploads.finish(id, call()), 'engine_unreachable');
  await uploads.finish(id, call());
  assert.equal(submitted[0]?.bytes.toString(), 'abc');
});

test('an upload is visible only to the caller who started it', async (t) => {
  const { uploads } = open(t);
  const { id } = await uploads.start(file(3), 'me');
  const other = await fails(uploads.addChunk(id, 0, Buffer.from('abc'), call('other')), 'upload_not_found');
  const none = await fails(uploads.addChunk('no-such-id', 0, Buffer.from('abc'), call()), 'upload_not_found');
  assert.equal(other.message, none.message);
  await fails(uploads.finish(id, call('other')), 'upload_not_found');
  for (const path of ['../x', '..', '/etc/passwd', '']) await fails(uploads.finish(path, call()), 'upload_not_found');
});

test('removes an upload and its bytes after ten idle minutes by the monotonic clock (003 Abandoned upload cleanup)', async (t) => {
  const { uploads, advance, folder } = open(t);
  const { id } = await uploads.start(file(4), 'me');
  advance(9 * minute);
  await uploads.addChunk(id, 0, Buffer.from('ab'), call());
  advance(9 * minute);
  await uploads.addChunk(id, 1, Buffer.from('c'), call());
  advance(10 * minute);
  await fails(uploads.addChunk(id, 2, Buffer.from('d'), call()), 'upload_not_found');
  assert.deepEqual(readdirSync(folder), []);
});

test('quotas count uploads and bytes per client and in total, and are released at the end', async (t) => {
  const { uploads, advance } = open(t);
  const start = (size: number, who = 'me') => uploads.start(file(size), who);
  const [one] = await Promise.all([start(10), start(10), start(10)]);
  await fails(start(10), 'upload_quota');
  await start(10, 'other');
  await uploads.addChunk(one?.id ?? '', 0, Buffer.alloc(10), call());
  await uploads.finish(one?.id ?? '', call());
  await start(10);
  advance(10 * minute);
  await start(800);
  await fails(start(800), 'upload_quota');
  await start(800, 'other');
  await start(800, 'third');
  await fails(start(800, 'fourth'), 'upload_quota');
});

test('concurrent starts cannot both use the last free slot', async (t) => {
  const { uploads } = open(t);
  const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => uploads.start(file(1), 'me')));
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 3);
});

test('uploads survive a restart if configured', async (t) => {
  const { uploads, restart, submitted } = open(t);
  const { id, secret } = await uploads.start(file(6), 'me');
  await uploads.addChunk(id, 1, Buffer.from('def'), call());
  const later = restart();
  await fails(later.addChunk(id, 0, Buffer.from('abc'), call('other')), 'upload_not_found');
  await fails(later.addChunk(id, 1, Buffer.from('xyz'), call()), 'upload_conflict');
  await fails(later.receive(id, secret, { content: stream('abcdef'), length: 6 }, call().signal), 'upload_conflict');
  assert.deepEqual((await fails(later.finish(id, call()), 'upload_incomplete')).data['missing_chunks'], [0]);
  await later.addChunk(id, 0, Buffer.from('abc'), call());
  const { outcome } = await later.finish(id, call());
  assert.equal(submitted[0]?.bytes.toString(), 'abcdef');
  assert.deepEqual((await restart().finish(id, call())).outcome, outcome);
  assert.equal(submitted.length, 1);
});

test('uploads of an earlier process count against quotas until finished or idle', async (t) => {
  const { uploads, restart, folder } = open(t);
  const first = await uploads.start(file(6), 'me');
  await uploads.start(file(6), 'me');
  const idle = await uploads.start(file(6), 'me');
  const later = restart();
  await fails(later.start(file(6), 'me'), 'upload_quota');
  await later.addChunk(first.id, 0, Buffer.from('abcdef'), call());
  await later.finish(first.id, call());
  await later.start(file(6), 'me');
  await fails(later.start(file(6), 'me'), 'upload_quota');
  const longAgo = new Date(Date.now() - 11 * minute);
  utimesSync(join(folder, idle.id), longAgo, longAgo);
  await later.start(file(6), 'me');
  // If uploads don't survive a restart, the ones left behind count against no quota.
  await restart({ survivesRestart: false }).start(file(6), 'me');
});

test('uploads do not survive a restart by default with a remote engine (003 MCP server restart during upload)', async (t) => {
  const { uploads, restart } = open(t, { survivesRestart: false });
  const { id } = await uploads.start(file(3), 'me');
  await fails(restart().addChunk(id, 0, Buffer.from('abc'), call()), 'upload_not_found');
});

test('uploads of an earlier process expire when idle', async (t) => {
  const { uploads, restart, folder } = open(t, { idleMs: 2_000 });
  const { id } = await uploads.start(file(3), 'me');
  await uploads.close();
  const past = new Date(Date.now() - 3_000);
  utimesSync(join(folder, id), past, past);
  const later = restart();
  await fails(later.addChunk(id, 0, Buffer.from('abc'), call()), 'upload_not_found');
  const old = new Date(Date.now() - 10_000);
  utimesSync(join(folder, id), old, old);
  // The second process's sweep removes it.
  while (readdirSync(folder).length > 0) await new Promise((resolve) => setTimeout(resolve, 50));
});

test('ignores a partial chunk of a killed process', async (t) => {
  const { uploads, restart, folder } = open(t);
  const { id } = await uploads.start(file(3), 'me');
  writeFileSync(join(folder, id, '0.chunk.1234.part'), 'a');
  const receipt = await restart().addChunk(id, 0, Buffer.from('abc'), call());
  assert.deepEqual(receipt, { receivedBytes: 3, totalSize: 3, chunks: 1 });
});

test('ignores a damaged manifest', async (t) => {
  const { uploads, restart, folder } = open(t);
  const { id } = await uploads.start(file(3), 'me');
  for (const text of ['', '{', '{"id":1}', '[]']) {
    writeFileSync(join(folder, id, 'manifest.json'), text);
    await fails(restart().finish(id, call()), 'upload_not_found');
  }
});

test('reports a full disk and keeps stored chunks', async (t) => {
  let isFull = false;
  const { uploads, submitted } = open(t, {}, (staging) => ({
    ...staging,
    writeChunk: (id, index, content) =>
      isFull ? staging.writeChunk(id, index, fullDisk()) : staging.writeChunk(id, index, content),
  }));
  const { id } = await uploads.start(file(6), 'me');
  await uploads.addChunk(id, 0, Buffer.from('abc'), call());
  isFull = true;
  await fails(uploads.addChunk(id, 1, Buffer.from('def'), call()), 'storage_full');
  isFull = false;
  assert.deepEqual((await uploads.addChunk(id, 1, Buffer.from('def'), call())).receivedBytes, 6);
  await uploads.finish(id, call());
  assert.equal(submitted[0]?.bytes.toString(), 'abcdef');
});

test('the upload URL accepts exactly total_size bytes, once, with the secret', async (t) => {
  const { uploads, submitted, advance } = open(t);
  const { id, secret } = await uploads.start(file(6), 'me');
  const { signal } = call();
  const put = (text: string, token = secret, length: number | undefined = undefined) =>
    uploads.receive(id, token, { content: stream(text), length }, signal);
  assert.match(secret, /^[\w-]{43}$/);
  await fails(put('abcdef', `${secret.slice(0, -1)}x`), 'upload_not_found');
  await fails(put('abcdef', ''), 'upload_not_found');
  await fails(put('abcdefg', secret, 7), 'upload_too_large');
  await fails(put('abcdefg'), 'upload_too_large');
  await fails(put('abcde'), 'upload_incomplete');
  assert.deepEqual(await put('abcdef'), { receivedBytes: 6, totalSize: 6, chunks: 1 });
  await fails(put('abcdef'), 'upload_conflict');
  await uploads.finish(id, call());
  await fails(put('abcdef'), 'upload_conflict');
  assert.equal(submitted[0]?.bytes.toString(), 'abcdef');
  advance(10 * minute);
  await fails(put('abcdef'), 'upload_not_found');
});

test('during a transfer to the URL nothing else may change the upload, and it does not expire', async (t) => {
  const { uploads, advance } = open(t);
  const { id, secret } = await uploads.start(file(6), 'me');
  const gate = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const slow = async function* () {
    yield Buffer.from('abc');
    started.resolve();
    await gate.promise;
    yield Buffer.from('def');
  };
  const receiving = uploads.receive(id, secret, { content: slow(), length: 6 }, call().signal);
  await started.promise;
  advance(20 * minute);
  await fails(uploads.addChunk(id, 0, Buffer.from('abc'), call()), 'upload_conflict');
  await fails(uploads.finish(id, call()), 'upload_conflict');
  await fails(uploads.receive(id, secret, { content: stream('abcdef'), length: 6 }, call().signal), 'upload_conflict');
  gate.resolve();
  assert.equal((await receiving).receivedBytes, 6);
  await uploads.finish(id, call());
});

async function* stream(text: string): AsyncGenerator<Uint8Array> {
  for (const character of text) yield Buffer.from(character);
}

async function* fullDisk(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('a');
  throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
}
