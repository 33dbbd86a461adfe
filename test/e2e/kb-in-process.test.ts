import assert from 'node:assert/strict';
import { chownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { connectAgent, type KbAgent } from '../acceptance/kb/kb-fixture.ts';
import { carrelProgram, cleanEnv, makeFolder, startCarrel } from '../support/child-program.ts';
import { until } from '../support/pause.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

test('carrel kb without an engine elsewhere has one inside, whose documents survive a restart; over HTTP it accepts no path of a file (contract §6)', async (t) => {
  const dataDir = makeFolder(t);
  const first = await startCarrel(t, ['kb'], { dataDir });
  const agent = await connectAgent(t, first.url);
  const id = await ingested(agent, await agent.call('kb_addnote', { text: 'The lighthouse keeper retired in May' }));
  assert.equal((await agent.call('kb_status'))['documents'], 1);
  const { upload_id } = await agent.call('kb_upload_start', { filename: 'a.txt', total_size: 17 });
  await agent.call('kb_upload_chunk', { upload_id, data: base64('half of a '), chunk_index: 0 });
  await agent.client.close();
  first.process.kill('SIGKILL');
  await first.exited;

  const second = await startCarrel(t, ['kb'], { dataDir, env: { KB_ALLOWED_ROOTS: '/' } });
  const later = await connectAgent(t, second.url);
  const { results } = await later.call('kb_search', { query: 'lighthouse' });
  assert.deepEqual(
    (results as { document_id: number; collection: string }[]).map((hit) => [hit.document_id, hit.collection]),
    [[id, 'documents']],
  );
  // With our engine in the same process, uploads survive as well.
  await later.call('kb_upload_chunk', { upload_id, data: base64('message'), chunk_index: 1 });
  const file = await ingested(later, await later.call('kb_upload_finish', { upload_id }));
  assert.match(JSON.stringify(await later.call('kb_get', { document_id: file })), /half of a message/);

  for (const tool of ['kb_upload_start', 'kb_add']) {
    const error = await later.fail(tool, { path: import.meta.filename });
    assert.deepEqual([error.code, /stdio/.test(error.message)], ['path_not_allowed', true], 'paths are for stdio only');
  }
});

test('in carrel serve, find asks the knowledge base, and its documents are resources (contract §8); files are accepted only from allowed folders', async (t) => {
  const { client, call } = await serve(t, makeFolder(t), {});
  const nothing = /^Nothing relevant in context, notes, kb\. Try other words, or other sources \(web\)\.$/;
  assert.match(String((await call('find', { query: 'zirconium' }))['hint']), nothing);
  const id = await ingested(
    { call },
    await call('kb_addnote', { text: 'Zirconium melts at 1855 °C', title: 'Metals' }),
  );
  const found = await call('find', { query: 'zirconium' });
  const [hit] = found['results'] as { source: string; uri: string; title: string; why: string }[];
  assert.deepEqual([hit?.source, hit?.uri, hit?.title], ['kb', `carrel://kb/doc/${id}`, 'Metals']);
  const { contents } = await client.readResource({ uri: `carrel://kb/doc/${id}` });
  const [content] = contents as { text: string; _meta: Record<string, unknown> }[];
  assert.equal(content?.text, 'Zirconium melts at 1855 °C');
  assert.deepEqual([content._meta['collection'], content._meta['title']], ['documents', 'Metals']);
  const { resources } = await client.listResources();
  assert.ok(resources.some(({ uri }) => uri === `carrel://kb/doc/${id}`));
  await assert.rejects(client.readResource({ uri: 'carrel://kb/doc/999' }), /No document/);
  await assert.rejects(client.readResource({ uri: 'carrel://kb/doc/1 OR 1=1' }), /No document/);
  const refused = await client.callTool({ name: 'kb_add', arguments: { path: import.meta.filename } });
  assert.match(JSON.stringify(refused.content), /no folder is allowed\. Set KB_ALLOWED_ROOTS/);
});

test('an unavailable engine is a failed source, not an empty one (contract §8)', async (t) => {
  const { call } = await serve(t, makeFolder(t), { KB_ENGINE_URL: 'http://127.0.0.1:9' });
  const { sources, hint } = await call('find', { query: 'anything' });
  assert.match(String(hint), /these sources failed: kb\./);
  const kb = (sources as { source: string; status: string; message: string }[]).find(({ source }) => source === 'kb');
  assert.equal(kb?.status, 'failed');
  assert.match(kb.message, /unreachable/);
});

test("accepts files in an allowed folder and in the client's roots; a rejection names the setting and the folders", async (t) => {
  const dataDir = makeFolder(t);
  const [allowed, root] = [join(dataDir, 'papers'), join(dataDir, 'project')];
  for (const folder of [allowed, root]) mkdirSync(folder);
  writeFileSync(join(allowed, 'essay.md'), '# Essay\n\nOn the keeping of bees.');
  writeFileSync(join(root, 'plan.md'), '# Plan\n\nThe hives move in April.');
  writeFileSync(join(dataDir, 'secret.md'), 'Not for agents.');
  for (const folder of [allowed, root]) symlinkSync(join(dataDir, 'secret.md'), join(folder, 'innocent.md'));
  const roots = [{ uri: pathToFileURL(root).href }, { uri: 'https://example.org/' }, { uri: 'file://%' }];
  const { client, call } = await serve(t, dataDir, { KB_ALLOWED_ROOTS: allowed }, roots);

  const taken = await call('kb_upload_start', { path: join(allowed, 'essay.md'), collection: 'essays' });
  const essay = await call('kb_get', { document_id: await ingested({ call }, taken) });
  assert.deepEqual([essay['collection'], essay['source_path']], ['essays', join(allowed, 'essay.md')]);
  assert.match(JSON.stringify(essay['chunks']), /keeping of bees/);
  const added = await call('kb_add', { path: join(root, 'plan.md'), tags: ['bees'] });
  const plan = await call('kb_get', { document_id: await ingested({ call }, added) });
  assert.deepEqual([plan['tags'], plan['source_path']], [['bees'], join(root, 'plan.md')]);
  const noteId = await ingested({ call }, await call('kb_add', { text: 'Smoke calms bees.', title: 'Smoke' }));
  assert.equal((await call('kb_get', { document_id: noteId }))['title'], 'Smoke');

  for (const path of [
    join(allowed, 'innocent.md'),
    join(root, 'innocent.md'),
    join(dataDir, 'secret.md'),
    `${allowed}/../secret.md`,
    root,
    '/etc/hostname',
  ]) {
    for (const name of ['kb_upload_start', 'kb_add']) {
      const result = await client.callTool({ name, arguments: { path } });
      const { code, message } = Object(result.structuredContent).error;
      assert.deepEqual([result.isError, code], [true, 'path_not_allowed'], path);
      for (const each of [allowed, root, 'KB_ALLOWED_ROOTS']) assert.ok(message.includes(each), message);
    }
  }
  const relative = await client.callTool({ name: 'kb_upload_start', arguments: { path: 'essay.md' } });
  assert.equal(Object(relative.structuredContent).error.code, 'path_not_allowed');
  assert.equal((await call('kb_upload_start', { filename: 'a.txt', total_size: 1 }))['upload_url'], undefined);
  for (const given of [{}, { text: 'a', path: join(allowed, 'essay.md') }]) {
    const result = await client.callTool({ name: 'kb_add', arguments: given });
    assert.match(JSON.stringify(result.content), /exactly one of text, path and url/);
  }
  if (process.getuid?.() === 0) {
    chownSync(join(root, 'plan.md'), 65_534, 65_534);
    const result = await client.callTool({ name: 'kb_add', arguments: { path: join(root, 'plan.md') } });
    assert.match(JSON.stringify(result.content), /another user/);
  }
});

async function serve(t: TestContext, dataDir: string, env: Record<string, string>, roots?: { uri: string }[]) {
  const client = new Client({ name: 'test', version: '1' }, { capabilities: roots ? { roots: {} } : {} });
  if (roots) client.setRequestHandler('roots/list', async () => ({ roots }));
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [carrelProgram],
    env: cleanEnv(dataDir, env),
    cwd: dataDir,
    stderr: 'ignore',
  });
  await client.connect(transport);
  t.after(() => client.close());
  const call: KbAgent['call'] = async (tool, input = {}) => {
    const result = await client.callTool({ name: tool, arguments: input });
    assert.ok(!result.isError, JSON.stringify(result.content));
    return result.structuredContent as Record<string, unknown>;
  };
  return { client, call };
}

async function ingested({ call }: Pick<KbAgent, 'call'>, answer: Record<string, unknown>): Promise<number> {
  assert.ok(answer['job_id'] !== undefined, JSON.stringify(answer));
  return until(async () => {
    const { jobs } = await call('kb_jobs', { job_id: answer['job_id'] });
    const [job] = jobs as { status: string; document_id: number; error: string }[];
    assert.ok(job && job.status !== 'failed', job?.error);
    return job.status === 'done' && job.document_id;
  });
}
