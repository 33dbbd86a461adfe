import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { Owner } from '../../fakes/loopback-server.ts';
import { startSearchProviders } from '../../fakes/search-providers/start-search-providers.ts';
import { createBareRpc } from '../../support/bare-rpc.ts';
import { carrelProgram, cleanEnv, makeFolder, startCarrel } from '../../support/child-program.ts';
import { checkNamed } from '../../support/named-fields.ts';
import { verifies } from '../../support/verifies.ts';

const providers = await startSearchProviders({ after });
const env = { DUCKDUCKGO_URL: providers.addresses.duckduckgo };

async function connect(t: Owner, transport: Transport): Promise<Client> {
  const client = new Client({ name: 'acceptance', version: '1.0.0' });
  await client.connect(transport);
  t.after(() => client.close());
  return client;
}

function stdioTransport(t: Owner, role: string): StdioClientTransport {
  const folder = makeFolder(t);
  return new StdioClientTransport({
    command: process.execPath,
    args: [carrelProgram, role, '--transport', 'stdio'],
    cwd: folder,
    env: cleanEnv(join(folder, 'home'), env),
    stderr: 'pipe',
  });
}

interface ToolAnswer {
  structuredContent?: Record<string, unknown>;
  content: { type: string; text?: string }[];
}

const call = async (client: Client, name: string, args: Record<string, unknown>): Promise<Record<string, unknown>> => {
  const answer = (await client.callTool({ name, arguments: args })) as ToolAnswer;
  assert.deepEqual(JSON.parse(answer.content[0]?.text ?? ''), answer.structuredContent);
  checkNamed((await client.listTools()).tools, name, answer.structuredContent);
  return answer.structuredContent ?? {};
};

for (const kind of ['stdio', 'HTTP'] as const) {
  verifies('004 overview/tools', `contract §7: the official client uses every tool over ${kind}`, async (t) => {
    const client =
      kind === 'stdio'
        ? await connect(t, stdioTransport(t, 'research'))
        : await connect(
            t,
            new StreamableHTTPClientTransport(new URL((await startCarrel(t, ['research'], { env })).url)),
          );
    const { tools } = await client.listTools();
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['web_search', 'fetch_page', 'save_note', 'list_notes', 'get_note', 'update_note', 'delete_note'],
    );
    for (const tool of tools) {
      assert.equal(tool.annotations?.readOnlyHint, !['save_note', 'update_note', 'delete_note'].includes(tool.name));
      assert.equal(tool.annotations?.destructiveHint, ['update_note', 'delete_note'].includes(tool.name));
      assert.ok(tool.outputSchema);
    }
    const found = await call(client, 'web_search', { query: 'python' });
    assert.equal(found['provider'], 'duckduckgo');
    const { note } = await call(client, 'save_note', { title: 'By a client', content: 'It has words.', tags: ['mcp'] });
    const { id } = note as { id: string };
    assert.deepEqual((await call(client, 'get_note', { id }))['note'], note);
    assert.equal((await call(client, 'list_notes', { query: 'words', tags: ['mcp'] }))['total_count'], 1);
    const uri = `carrel://notes/${id}`;
    await call(client, 'update_note', { id, content: 'It has others.' });
    assert.match(JSON.stringify(await client.readResource({ uri })), /It has others\..*Updated: /);
    assert.equal((await call(client, 'delete_note', { id }))['deleted'], true);
    assert.deepEqual((await client.listResources()).resources, []);
    await assert.rejects(client.readResource({ uri }), /No note has this URI/);
    assert.equal((await call(client, 'delete_note', { id, restore: true }))['deleted'], false);
    assert.equal((await client.listResources()).resources.length, 1);
    await assert.rejects(client.callTool({ name: 'fetch_page', arguments: { url: 'http://127.0.0.1/' } }), {
      code: -32_000,
      data: { code: 'fetch_invalid_url', details: { reason: 'private_network_blocked', host: '127.0.0.1' } },
    });
  });
}

test('T136: calls with and without a session count for the same client', async (t) => {
  const { url } = await startCarrel(t, ['research'], { env: { RATE_LIMIT_NOTES: '4' } });
  const rpc = createBareRpc(url);
  const client = await connect(t, new StreamableHTTPClientTransport(new URL(url)));
  await rpc.result('list_notes', {});
  await rpc.result('list_notes', {});
  await call(client, 'list_notes', {});
  await call(client, 'list_notes', {});
  assert.equal((await rpc.error('list_notes', {})).data.code, 'rate_limit_exceeded');
  await assert.rejects(client.callTool({ name: 'list_notes', arguments: {} }), { code: -32_000 });
});

test('contract §8: serve offers the tools of memory and research, and find over both and, on request, the web', async (t) => {
  const client = await connect(t, stdioTransport(t, 'serve'));
  const names = (await client.listTools()).tools.map(({ name }) => name);
  for (const name of ['web_search', 'fetch_page', 'save_note', 'list_notes', 'get_note', 'store_context', 'find']) {
    assert.ok(names.includes(name), name);
  }
  assert.ok(!names.some((name) => name.startsWith('fess_')), 'Fess is not configured');
  const text = 'The quokka is a small marsupial.';
  await call(client, 'store_context', { thread_id: 't', source: 'user', text });
  const remembered = await call(client, 'find', { query: 'quokka', sources: ['context'] });
  assert.deepEqual(
    (remembered['results'] as Record<string, unknown>[]).map(({ source, uri, title }) => [source, uri, title]),
    [['context', 'carrel://context/1', text]],
  );
  const { note } = await call(client, 'save_note', { title: 'Python at work', content: 'Python at the desk.' });
  const found = await call(client, 'find', { query: 'python', sources: ['notes', 'web'] });
  const { results, sources } = found as {
    results: Record<string, unknown>[];
    sources: { source: string; status: string }[];
  };
  assert.deepEqual(new Set(results.map(({ source }) => source)), new Set(['notes', 'web']));
  // Empty fields are omitted: the date of a page, the origin of the user's own notes.
  for (const hit of results) {
    const own = hit['source'] === 'notes' ? 'date' : 'origin';
    assert.deepEqual(Object.keys(hit), ['source', 'uri', 'title', 'snippet', 'relevance', own]);
  }
  assert.equal(
    results.find(({ source }) => source === 'notes')?.['uri'],
    `carrel://notes/${(note as { id: string }).id}`,
  );
  assert.ok(
    sources.every(({ source, status }) => status === (['notes', 'web'].includes(source) ? 'searched' : 'skipped')),
  );

  providers.behave('duckduckgo', { kind: 'challenge' });
  const broken = (await call(client, 'find', { query: 'nothing has these', sources: ['web'] })) as {
    results: unknown[];
    sources: { source: string; status: string; message?: string }[];
  };
  assert.deepEqual(broken.results, []);
  const web = broken.sources.find(({ source }) => source === 'web');
  assert.equal(web?.status, 'failed');
  assert.match(web?.message ?? '', /blocks the search/);
});

test('contract §8: notes are resources that can be listed by pages and read', async (t) => {
  const { url } = await startCarrel(t, ['research'], { env: { RATE_LIMIT_NOTES: '1000' } });
  const client = await connect(t, new StreamableHTTPClientTransport(new URL(url)));
  for (let index = 0; index < 60; index += 1) {
    const note = { title: `Note ${index}`, content: `Text ${index}.`, tags: ['t'] };
    await client.callTool({ name: 'save_note', arguments: note });
  }
  const uris: string[] = [];
  let cursor: string | undefined;
  let pages = 0;
  do {
    // The client's own method follows cursors automatically.
    const params = cursor === undefined ? {} : { cursor };
    const page = await client.request({ method: 'resources/list', params });
    uris.push(...page.resources.map(({ uri }) => uri));
    cursor = page.nextCursor;
    pages += 1;
  } while (cursor !== undefined && pages < 10);
  assert.ok(pages >= 2);
  assert.equal(new Set(uris).size, 60);
  const { contents } = await client.readResource({ uri: uris[0] ?? '' });
  assert.equal(contents[0]?.mimeType, 'text/markdown');
  assert.match(JSON.stringify(contents[0]), /# Note 59\\n\\nText 59\./);
  await assert.rejects(
    client.request({ method: 'resources/list', params: { cursor: '0.50-AAAAAAAAAAAAAAAAAAAAAA' } }),
    { code: -32_602 },
  );
  await assert.rejects(client.readResource({ uri: 'carrel://notes/550e8400-e29b-41d4-a716-446655440000' }));
});
