import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../support/pause.ts';
import { verifies } from '../../support/verifies.ts';
import { agentKey, type KbServers } from './kb-fixture.ts';

export function uploads(kb: KbServers): void {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const begin = async (text: string, more: Record<string, unknown> = {}): Promise<string> => {
    const given = { filename: 'report.md', total_size: Buffer.byteLength(text), ...more };
    return String((await kb.call('kb_upload_start', given))['upload_id']);
  };
  const chunk = (id: string, index: number, text: string) =>
    kb.call('kb_upload_chunk', { upload_id: id, data: base64(text), chunk_index: index });

  verifies(
    ['003 upload/start', '003 upload/chunk', '003 upload/sequence', '003 upload/finish'],
    'a file uploaded in chunks becomes a document with its tags, byte for byte',
    async () => {
      const parts = ['# Insurance\n\n', 'The premium rises ', 'by 3 percent – “rounded”.\n'];
      const started = await kb.call('kb_upload_start', {
        filename: 'Versicherung März.md',
        total_size: Buffer.byteLength(parts.join('')),
        tags: ['insurance'],
        collection: 'documents',
      });
      const id = String(started['upload_id']);
      assert.match(id, /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/);
      const receipts = [];
      for (const [index, part] of parts.entries()) receipts.push(await chunk(id, index, part));
      assert.deepEqual(
        receipts.map(({ received_bytes: bytes }) => bytes),
        [13, 31, Buffer.byteLength(parts.join(''))],
      );
      const since = kb.proxy.requests.length;
      const finished = await kb.call('kb_upload_finish', { upload_id: id });
      const [request] = kb.asked(since, 'POST', '/jobs');
      assert.match(request?.text ?? '', /name="tags"\r\n\r\ncollection:documents,insurance\r\n/);
      assert.match(request?.text ?? '', /name="file"; filename="Versicherung März\.md"/);
      assert.ok(request?.text.includes(parts.join('')));
      assert.deepEqual(await kb.call('kb_upload_finish', { upload_id: id }), finished);
      assert.equal(kb.asked(since, 'POST', '/jobs').length, 1);
      const document = await kb.ingested(finished);
      const shown = await kb.call('kb_get', { document_id: document });
      assert.deepEqual([shown['collection'], shown['tags']], ['documents', ['insurance']]);
      const original = await fetch(`${kb.engine.origin}/api/v1/documents/${document}/file`, {
        headers: { authorization: 'Bearer engine-secret' },
      });
      assert.equal(await original.text(), parts.join(''));
    },
  );

  verifies('003 update/not-a-note', 'a file cannot be updated as a note', async () => {
    const id = await begin('A file, not a note.');
    await chunk(id, 0, 'A file, not a note.');
    const document = await kb.ingested(await kb.call('kb_upload_finish', { upload_id: id }));
    const error = await kb.fail('kb_update_note', { document_id: document, text: 'x' });
    assert.equal(error.code, 'not_a_note');
    assert.match(error.message, /[Oo]nly notes can be updated/);
  });

  verifies('003 upload/sequence', 'accepts chunks in any order and repeatedly; rejects contradictions', async () => {
    const id = await begin('abcdef');
    await chunk(id, 1, 'def');
    const gap = await kb.fail('kb_upload_finish', { upload_id: id });
    assert.deepEqual([gap.code, gap['missing_chunks'], gap['received_bytes']], ['upload_incomplete', [0], 3]);
    await Promise.all([chunk(id, 1, 'def'), chunk(id, 0, 'abc'), chunk(id, 0, 'abc')]);
    const other = { upload_id: id, data: base64('abX'), chunk_index: 0 };
    assert.equal((await kb.fail('kb_upload_chunk', other)).code, 'upload_conflict');
    const more = { upload_id: id, data: base64('g'), chunk_index: 2 };
    assert.equal((await kb.fail('kb_upload_chunk', more)).code, 'upload_too_large');
    assert.equal((await kb.call('kb_upload_finish', { upload_id: id }))['status'], 'queued');
  });

  verifies('003 upload/chunk', 'rejects invalid base64 and names that are paths', async () => {
    const id = await begin('abc');
    for (const data of ['', 'YQ', 'Y Q==', 'YWI_', '****']) {
      const error = await kb.fail('kb_upload_chunk', { upload_id: id, data, chunk_index: 0 });
      assert.equal(error.code, 'invalid_arguments');
      assert.match(error.message, /data/);
    }
    for (const filename of ['../../etc/passwd', 'a/b.txt', 'c:\\x', '..', 'a\u0000b', '']) {
      assert.equal((await kb.fail('kb_upload_start', { filename, total_size: 3 })).code, 'invalid_arguments');
    }
    const typed = await kb.fail('kb_upload_start', { filename: 'a', total_size: 3, doc_type: 'a b' });
    assert.deepEqual([typed.code, /^doc_type must have 1 to 40/.test(typed.message)], ['invalid_arguments', true]);
    for (const index of [-1, 10_000, 0.5]) {
      const given = { upload_id: id, data: base64('abc'), chunk_index: index };
      assert.equal((await kb.fail('kb_upload_chunk', given)).code, 'invalid_arguments');
    }
    assert.equal((await kb.fail('kb_upload_start', { filename: 'a', total_size: 2 ** 40 })).code, 'upload_too_large');
  });

  verifies('003 upload/invalid-id', 'reports an unknown id', async () => {
    const id = '00000000-0000-4000-8000-000000000000';
    for (const upload_id of [id, '../../x', '']) {
      const given = { upload_id, data: base64('abc'), chunk_index: 0 };
      assert.equal((await kb.fail('kb_upload_chunk', given)).code, 'upload_not_found');
      assert.equal((await kb.fail('kb_upload_finish', { upload_id })).code, 'upload_not_found');
    }
  });

  verifies('003 upload/finish', 'a failed hand-over loses nothing: finish can be repeated', async () => {
    const id = await begin('Handed over late.');
    await chunk(id, 0, 'Handed over late.');
    kb.proxy.isDown = true;
    assert.equal((await kb.fail('kb_upload_finish', { upload_id: id })).code, 'engine_unreachable');
    kb.proxy.isDown = false;
    await kb.ingested(await kb.call('kb_upload_finish', { upload_id: id }));
  });

  verifies('003 upload/finish', 'reports the same file as a duplicate', async () => {
    const text = 'Uploaded twice.';
    const first = await begin(text);
    await chunk(first, 0, text);
    const document = await kb.ingested(await kb.call('kb_upload_finish', { upload_id: first }));
    const second = await begin(text, { collection: 'elsewhere' });
    await chunk(second, 0, text);
    const again = await kb.call('kb_upload_finish', { upload_id: second });
    assert.deepEqual(
      [again['status'], again['document_id'], again['collection']],
      ['duplicate', document, 'documents'],
    );
  });

  verifies('003 upload/abandoned', 'removes an idle upload and its bytes after the timeout', async (t) => {
    const server = await kb.startKb(t, { KB_UPLOAD_IDLE_SECONDS: '1' });
    const agent = await kb.connect(t, server.url, agentKey);
    const { upload_id } = await agent.call('kb_upload_start', { filename: 'a.txt', total_size: 3 });
    await agent.call('kb_upload_chunk', { upload_id, data: base64('ab'), chunk_index: 0 });
    const folder = join(server.dataDir, 'kb-uploads', String(upload_id));
    assert.ok(existsSync(join(folder, '0.chunk')));
    await until(() => !existsSync(folder));
    const given = { upload_id, data: base64('c'), chunk_index: 1 };
    assert.equal((await agent.fail('kb_upload_chunk', given)).code, 'upload_not_found');
  });

  verifies(
    '003 upload/restart',
    'uploads continue after a restart if the operator keeps them, and are lost by default',
    async (t) => {
      const kept = { KB_KEEP_UPLOADS: 'true' };
      const first = await kb.startKb(t, kept);
      const agent = await kb.connect(t, first.url, agentKey);
      const { upload_id } = await agent.call('kb_upload_start', { filename: 'kept.txt', total_size: 9 });
      await agent.call('kb_upload_chunk', { upload_id, data: base64('kept '), chunk_index: 0 });
      await agent.client.close();
      first.process.kill('SIGKILL');
      await first.exited;
      const second = await kb.startKb(t, kept, { dataDir: first.dataDir });
      const later = await kb.connect(t, second.url, agentKey);
      await later.call('kb_upload_chunk', { upload_id, data: base64('file'), chunk_index: 1 });
      const document = await kb.ingested(await later.call('kb_upload_finish', { upload_id }));
      const { chunks } = await kb.call('kb_get', { document_id: document });
      assert.match(JSON.stringify(chunks), /kept file/);
      const folder = join(first.dataDir, 'kb-uploads');
      assert.deepEqual(readdirSync(join(folder, String(upload_id))), ['manifest.json']);

      const { upload_id: unfinished } = await later.call('kb_upload_start', { filename: 'a.txt', total_size: 3 });
      await later.call('kb_upload_chunk', { upload_id: unfinished, data: base64('ab'), chunk_index: 0 });
      assert.ok(existsSync(join(folder, String(unfinished), '0.chunk')));
      await later.client.close();
      second.process.kill('SIGKILL');
      await second.exited;
      const third = await kb.startKb(t, {}, { dataDir: first.dataDir });
      const last = await kb.connect(t, third.url, agentKey);
      const given = { upload_id: unfinished, data: base64('c'), chunk_index: 1 };
      assert.equal((await last.fail('kb_upload_chunk', given)).code, 'upload_not_found');
    },
  );

  verifies('003 upload/start', 'upload_url accepts the bytes once, without a token and without a model', async () => {
    const text = 'Bytes that no model has seen. '.repeat(1000);
    const started = await kb.call('kb_upload_start', { filename: 'plain.txt', total_size: text.length });
    const url = String(started['upload_url']);
    assert.ok(url.startsWith(`${kb.kb.origin}/kb/uploads/`));
    const put = (body: string, to = url) => fetch(to, { method: 'PUT', body });
    assert.equal((await put(text, `${url.slice(0, -1)}${url.endsWith('A') ? 'B' : 'A'}`)).status, 404);
    assert.equal((await put(`${text}!`)).status, 413);
    assert.equal((await put(text.slice(1))).status, 400);
    assert.equal((await fetch(url)).status, 405);
    const stored = await put(text);
    assert.deepEqual(
      [stored.status, ((await stored.json()) as { received_bytes: number }).received_bytes],
      [201, text.length],
    );
    assert.equal((await put(text)).status, 409);
    const { upload_id } = started;
    const document = await kb.ingested(await kb.call('kb_upload_finish', { upload_id }));
    const { chunks } = await kb.call('kb_get', { document_id: document });
    assert.match(JSON.stringify(chunks), /no model has seen/);
  });
}
