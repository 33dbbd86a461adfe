import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { runCarrel } from '../../support/child-program.ts';
import { type EngineClient, engineClient, formOf, startEngine } from '../../support/engine-client.ts';
import { until } from '../../support/pause.ts';
import { exchange } from '../../support/raw-http.ts';

describe('what the engine rejects (contract §2, §6)', () => {
  let engine: EngineClient;
  const closings: (() => Promise<void> | void)[] = [];
  before(async () => {
    engine = await startEngine(
      { after: (close) => void closings.push(close) },
      { env: { KB_API_KEY: 'correct-horse', KB_FILE_BYTES_MAX: '100000' } },
    );
  });
  after(async () => {
    for (const close of closings.reverse()) await close();
  });
  const authorization = 'Bearer correct-horse';

  test('every path but health requires the key, and says so in JSON', async () => {
    for (const [method, path] of [
      ...['/status', '/jobs', '/jobs/1', '/documents', '/documents/1', '/documents/1/file', '/tags', '/nowhere'].map(
        (each) => ['GET', each] as const,
      ),
      ...['/search', '/jobs', '/bulk/delete', '/bulk/tags', '/bulk/replace-tags', '/bulk/set-tags'].map(
        (each) => ['POST', each] as const,
      ),
    ]) {
      const answer = await exchange(`${engine.url}${path}`, { method, headers: {} });
      assert.equal(answer.status, 401, path);
      assert.equal(answer.headers['www-authenticate'], 'Bearer');
      assert.equal(JSON.parse(answer.text).error, 'unauthorized');
    }
    const wrong = await exchange(`${engine.url}/status`, { method: 'GET', headers: { authorization: 'Bearer wrong' } });
    assert.equal(wrong.status, 401);
    assert.equal((await exchange(`${engine.url}/health`, { method: 'GET' })).status, 200);
  });

  test('rejects a foreign Host or Origin, also for health', async () => {
    for (const headers of [{ host: 'evil.example' }, { origin: 'http://evil.example' }]) {
      for (const path of ['/status', '/health']) {
        const answer = await exchange(`${engine.url}${path}`, {
          method: 'GET',
          headers: { authorization, ...headers },
        });
        assert.equal(answer.status, 403);
        assert.equal(JSON.parse(answer.text).error, 'forbidden');
      }
    }
  });

  test('unknown paths are 404, known ones with another method 405 with Allow', async () => {
    for (const path of ['/nowhere', '/documents/1/other', '/bulk', '/bulk/rename', '/documents//file']) {
      const { status, json } = await engine.call('GET', path);
      assert.deepEqual([status, json['error']], [404, 'not_found'], path);
    }
    for (const [method, path, allow] of [
      ['PUT', '/jobs', 'GET, HEAD, POST'],
      ['GET', '/search', 'POST'],
      ['POST', '/documents/1', 'GET, HEAD, PATCH, DELETE'],
      ['GET', '/notes/1', 'PATCH'],
      ['DELETE', '/health', 'GET, HEAD'],
    ] as const) {
      const { status, headers, json } = await engine.call(method, path);
      assert.deepEqual([status, headers.get('allow'), json['error']], [405, allow, 'method_not_allowed'], path);
    }
  });

  test('unknown ids are 404, in any format', async () => {
    for (const id of ['99999', '0', '-1', 'abc', '1.5', '1e3', '99999999999999999999']) {
      const { status, json } = await engine.call('GET', `/documents/${id}`);
      assert.deepEqual([status, json['error']], [404, 'document_not_found'], id);
      const job = await engine.call('GET', `/jobs/${id}`);
      assert.deepEqual([job.status, job.json['error']], [404, 'job_not_found'], id);
    }
    assert.equal((await engine.call('DELETE', '/documents/99999')).status, 404);
    assert.equal((await engine.call('DELETE', '/jobs/99999')).status, 404);
    assert.equal((await engine.call('GET', '/documents/99999/file')).status, 404);
    assert.equal((await engine.call('PUT', '/documents/99999/tags', { add: ['a'] })).status, 404);
  });

  test('bodies: 415 for another type, 400 for no JSON, 413 for too much, 422 for wrong values', async () => {
    const post = (body: string, type = 'application/json', path = '/search') =>
      exchange(`${engine.url}${path}`, { headers: { authorization, 'content-type': type }, body });
    assert.equal((await post('{"query":"a"}', 'text/plain')).status, 415);
    assert.equal((await post('query=a', 'application/x-www-form-urlencoded')).status, 415);
    assert.equal((await post('{"note":"a"}', 'application/json', '/jobs')).status, 415);
    for (const [path, type] of [
      ['/search', 'application/json'],
      ['/jobs', 'multipart/form-data; boundary=x'],
    ] as const) {
      const headers = { authorization, 'content-type': type, 'content-encoding': 'gzip' };
      const answer = await exchange(`${engine.url}${path}`, { headers, body: gzipSync('{"query":"a"}') });
      assert.deepEqual([answer.status, answer.headers['accept-encoding']], [415, 'identity'], path);
      assert.match(JSON.parse(answer.text).detail, /Content-Encoding/);
    }
    for (const body of ['', '{', '[1', '\u0000', '{"query": "\ud800"']) {
      const answer = await post(body);
      assert.deepEqual([answer.status, JSON.parse(answer.text).error], [400, 'malformed_body'], JSON.stringify(body));
    }
    const huge = await post(JSON.stringify({ query: 'a'.repeat(9 * 1024 * 1024) }));
    assert.deepEqual([huge.status, JSON.parse(huge.text).error], [413, 'too_large']);
    for (const body of [
      ...['[]', '"text"', 'null', '{}', '{"query":1}', '{"query":""}', '{"query":"  "}'],
      ...['{"query":"a","top":0}', '{"query":"a","top":101}', '{"query":"a","top":"5"}', '{"query":"a","top":1.5}'],
      ...['{"query":"a","threshold":2}', '{"query":"a","tags":"b"}', '{"query":"a","tags":[1]}'],
      ...['{"query":"a","fts_only":true,"vec_only":true}', '{"query":"a","neighbours":6}'],
      JSON.stringify({ query: 'a'.repeat(10_001) }),
    ]) {
      const answer = await post(body);
      const json = JSON.parse(answer.text);
      assert.deepEqual([answer.status, json.error], [422, 'invalid_arguments'], body.slice(0, 80));
      assert.match(json.detail, /^(The body|[a-z_]+(\.\d+)?) (must|and vec_only exclude)/, body.slice(0, 80));
    }
    const { json: kind } = await engine.call('POST', '/search', { query: 'a', top: 1.5 });
    assert.equal(kind['detail'], 'top must be a whole number');
    const { json: many } = await engine.call('POST', '/search', { query: 'a', tags: Array(1_001).fill('t') });
    assert.equal(many['detail'], 'tags must have at most 1000 items');
    const { json: missing } = await engine.call('POST', '/bulk/set-tags', { document_ids: [1] });
    assert.equal(missing['detail'], 'set_tags is required');
    assert.equal((await engine.call('GET', '/documents?limit=0')).status, 422);
    assert.equal((await engine.call('GET', '/documents?limit=1001')).status, 422);
    assert.equal((await engine.call('GET', '/jobs?offset=-1')).status, 422);
  });

  test('tags are bounded', async () => {
    for (const tags of ['x'.repeat(201), Array.from({ length: 65 }, (_, index) => `t${index}`).join(',')]) {
      const { status, json } = await engine.submit(formOf({ note: 'tagged', tags }));
      assert.deepEqual([status, json['error']], [422, 'invalid_arguments']);
    }
  });

  test('a form needs a file or a note, and not both', async () => {
    for (const form of [
      formOf({}),
      formOf({ title: 'alone' }),
      formOf({ note: '' }),
      formOf({ note: 'x' }, 'a.txt', 'both'),
      formOf({}, 'empty.txt', ''),
      formOf({ file: 'not a file' }),
      formOf({ doc_type: '../../etc' }, 'a.txt', 'a'),
      formOf({ title: 'x'.repeat(301) }, 'a.txt', 'a'),
    ]) {
      const { status, json } = await engine.submit(form);
      assert.deepEqual([status, json['error']], [422, 'invalid_arguments'], JSON.stringify(json));
    }
  });

  test('hostile forms: paths in names, two files, no end, no boundary, too many fields, too many bytes', async () => {
    const boundary = 'b';
    const send = (body: string, type = `multipart/form-data; boundary=${boundary}`) =>
      exchange(`${engine.url}/jobs`, { headers: { authorization, 'content-type': type }, body });
    const part = (disposition: string, content: string) =>
      `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${content}\r\n`;
    const end = `--${boundary}--\r\n`;

    for (const name of ['../../etc/passwd', '/etc/passwd', 'C:\\\\Windows\\\\passwd', '..%2Fpasswd']) {
      const answer = await send(part(`name="file"; filename="${name}"`, `content of ${name}`) + end);
      assert.equal(answer.status, 202, name);
      assert.doesNotMatch(JSON.parse(answer.text).filename, /[/\\]/, name);
    }
    for (const name of ['..', '.', '/', 'a/..']) {
      const answer = await send(part(`name="file"; filename="${name}"`, `named ${name}`) + end);
      assert.ok([202, 422].includes(answer.status), name);
      if (answer.status === 202) assert.doesNotMatch(JSON.parse(answer.text).filename, /^\.*$|[/\\]/);
    }
    const two = part('name="file"; filename="a.txt"', 'a') + part('name="file"; filename="b.txt"', 'b') + end;
    assert.equal((await send(two)).status, 422);
    assert.equal((await send(part('name="other"; filename="a.txt"', 'a') + end)).status, 422);
    assert.equal((await send(part('name="file"; filename="a.txt"', 'never ends'))).status, 400);
    for (const disposition of ['name="file"; filename="encoded.txt"', 'name="note"']) {
      const encoded = part(`${disposition}\r\nContent-Transfer-Encoding: base64`, 'aGVsbG8gd29ybGQ=') + end;
      assert.equal((await send(encoded)).status, 415, disposition);
    }
    assert.equal((await send('no form at all')).status, 400);
    assert.equal((await send('x', 'multipart/form-data')).status, 415);
    assert.equal((await send('x', 'multipart/form-data; charset=utf-8')).status, 400);
    const fields = Array.from({ length: 30 }, (_, index) => part(`name="f${index}"`, 'x')).join('');
    assert.equal((await send(fields + end)).status, 422);
    const large = await send(part('name="file"; filename="large.txt"', 'x'.repeat(100_001)) + end);
    assert.deepEqual([large.status, JSON.parse(large.text).error], [413, 'too_large']);
    const announced = await exchange(`${engine.url}/jobs`, {
      headers: {
        authorization,
        'content-type': `multipart/form-data; boundary=${boundary}`,
        'content-length': '99999999',
      },
      body: 'x',
    }).catch(() => undefined);
    assert.ok(announced === undefined || announced.status === 413);
    // Rejected uploads leave nothing on disk.
    assert.deepEqual(readdirSync(join(engine.program.dataDir, 'documents', 'incoming')), []);
  });

  test('a client that disconnects mid-file leaves nothing, and the engine continues', async () => {
    const gone = new AbortController();
    const before = (await engine.get('/jobs'))['total'];
    const sending = fetch(`${engine.url}/jobs`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'multipart/form-data; boundary=b' },
      body: new ReadableStream({
        start(stream) {
          const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="half.txt"\r\n\r\nhalf a ';
          stream.enqueue(new TextEncoder().encode(head));
        },
      }),
      duplex: 'half',
      signal: gone.signal,
    } as RequestInit);
    const ended = assert.rejects(sending);
    const incoming = join(engine.program.dataDir, 'documents', 'incoming');
    // Wait until the engine has begun to write the file.
    await until(() => readdirSync(incoming).length > 0);
    gone.abort();
    await ended;
    await until(() => readdirSync(incoming).length === 0);
    assert.equal((await engine.get('/jobs'))['total'], before);
  });

  test('contract §1: wrong usage exits with 2 and one line; a wrong setting with 78', async (t) => {
    const unknown = await runCarrel(t, ['engine', '--fast']);
    assert.deepEqual([unknown.code, unknown.stderr.trim().split('\n').length], [2, 1]);
    assert.equal((await runCarrel(t, ['engine', '--transport', 'stdio'])).code, 2);
    const wrong = await runCarrel(t, ['engine', '--port', '0'], { env: { KB_BULK_SAFETY_PERCENT: '170' } });
    assert.equal(wrong.code, 78);
    assert.match(wrong.stderr, /KB_BULK_SAFETY_PERCENT must be an integer from 0 to 100/);
    const away = { STORAGE_BACKEND: 'postgresql', DATABASE_URL: 'postgres://u:p@127.0.0.1:9/none' };
    const down = await runCarrel(t, ['engine', '--port', '0'], { env: away });
    assert.equal(down.code, 69);
    assert.doesNotMatch(down.stderr, /listening/);
  });

  test('contract §1: SIGTERM ends it with 0 within five seconds, even during uploads', async (t) => {
    const busy = await startEngine(t, { env: { KB_WORKERS: '1' } });
    for (let index = 0; index < 8; index += 1) await busy.addFile(`${index}.txt`, `file ${index} `.repeat(2_000));
    const started = performance.now();
    assert.equal(await busy.program.stop(), 0);
    assert.ok(performance.now() - started < 5_000);
  });

  test('contract §2: listening beyond loopback without a key is warned about; --read-only searches and changes nothing', async (t) => {
    const { program } = await startEngine(t, { flags: ['--read-only'], env: { KB_HOST: '0.0.0.0' } });
    assert.match(program.stderrText(), /WARNING: 0\.0\.0\.0 is open to others without a token/);
    const readOnly = engineClient({ ...program, url: program.url.replace('0.0.0.0', '127.0.0.1') });
    assert.equal((await readOnly.submit(formOf({ note: 'x' }))).status, 403);
    assert.equal((await readOnly.call('DELETE', '/documents/1')).status, 403);
    assert.equal((await readOnly.search({ query: 'x' })).returned, 0);
  });
});
