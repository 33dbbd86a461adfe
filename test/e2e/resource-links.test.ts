import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { documentAt, finance, makeHome, wholeFile } from '../acceptance/fess/bridge.ts';
import { startFakeFess } from '../fakes/fess/start-fake-fess.ts';
import { fakeModel } from '../fakes/ollama.ts';
import { type Carrel, carrelProgram, cleanEnv, makeFolder, startCarrel } from '../support/child-program.ts';
import { pause } from '../support/pause.ts';
import { modernRequest, openSession, post } from '../support/raw-http.ts';
import { initializeParams, type Message } from '../support/stdio-client.ts';

type Fields = Record<string, unknown>;
interface Block {
  type: string;
  text?: string;
  uri?: string;
  title?: string;
  mimeType?: string;
}

const newest = '2026-07-28';
const infoKey = 'io.modelcontextprotocol/serverInfo';
const resultOf = (message: Message | undefined): Fields => message?.result ?? assert.fail(JSON.stringify(message));

describe('what a client can show of the server and of search results', { timeout: 300_000 }, () => {
  const owner = wholeFile();
  let server: Carrel;
  const clients: Record<string, Client> = {};

  before(async () => {
    const document = documentAt('http://127.0.0.1:9/', { title: 'Zirconium prices', content: 'zirconium' });
    const fess = await startFakeFess({ version: '15.4', documents: [document] });
    owner.after(() => fess.close());
    const home = makeHome(owner, { fessBaseUrl: fess.url, domain: finance });
    const env = { HOME: home, CARREL_RESOURCE_LINKS: 'true', ...(await fakeModel(owner)) };
    server = await startCarrel(owner, ['serve', '--transport', 'http'], { env });
    for (const mode of ['legacy', { pin: newest }] as const) {
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
      await client.connect(new StreamableHTTPClientTransport(new URL(server.url)));
      clients[String(client.getNegotiatedProtocolVersion())] = client;
    }
    const { call } = connected('2025-11-25');
    await call('save_note', { title: 'Melting', content: 'Zirconium melts at 1855 °C' });
    await call('store_context', { thread_id: 't', source: 'user', text: 'Zirconium is a metal\nof group 4' });
    const { job_id: id } = (await call('kb_addnote', { text: 'Zirconium boils', title: 'Boiling' })).data;
    for (let status: unknown; status !== 'done'; await pause(20)) {
      const { jobs } = (await call('kb_jobs', { job_id: id })).data as { jobs: { status: string }[] };
      status = jobs[0]?.status;
    }
  });
  after(async () => {
    for (const client of Object.values(clients)) await client.close();
  });

  function connected(revision: string) {
    const client = clients[revision] ?? assert.fail(`no client of ${revision}`);
    const call = async (name: string, args: Fields) => {
      const { content, structuredContent, isError } = await client.callTool({ name, arguments: args });
      assert.ok(!isError, JSON.stringify(content));
      return { content: content as Block[], data: structuredContent as Fields };
    };
    return { client, call };
  }

  const searches: readonly [tool: string, list: string, titles: readonly string[]][] = [
    ['find', 'results', ['Boiling', 'Melting', 'Zirconium is a metal', 'Zirconium prices']],
    ['kb_search', 'results', ['Boiling']],
    ['list_notes', 'notes', ['Melting']],
    ['fts_search_context', 'results', ['Zirconium is a metal']],
    ['semantic_search_context', 'results', ['Zirconium is a metal']],
    ['hybrid_search_context', 'results', ['Zirconium is a metal']],
  ];

  for (const revision of ['2025-11-25', newest]) {
    it(`${revision}: each search links to its results, and every link is readable`, async () => {
      const { client, call } = connected(revision);
      for (const [tool, list, titles] of searches) {
        const { content, data } = await call(tool, { query: 'zirconium' });
        const [text, ...links] = content;
        assert.deepEqual(JSON.parse(text?.text ?? ''), data, tool);
        assert.deepEqual(links.map(({ title }) => title).toSorted(), titles, tool);
        const explained = await call(tool, { query: 'zirconium', explain: true });
        const uris = (explained.data[list] as { uri: string }[]).map(({ uri }) => uri);
        assert.deepEqual(
          links.map(({ type, uri }) => [type, uri]),
          uris.map((uri) => ['resource_link', uri]),
          tool,
        );
        for (const { uri = '', mimeType } of links) {
          const { contents } = await client.readResource({ uri });
          assert.deepEqual([contents[0]?.uri, contents[0]?.mimeType], [uri, mimeType]);
          assert.match(String((contents[0] as Fields)['text']), /zirconium/i);
        }
      }
    });
  }

  it('other answers have no links: other tools, failures, past searches, empty results', async () => {
    const { client, call } = connected('2025-11-25');
    const nothing = await call('fts_search_context', { query: 'zirconium', as_of: '2030-01-01T00:00:00Z' });
    assert.equal(nothing.data['count'], 1);
    const answers = [nothing, await call('list_notes', { query: 'qqqq' }), await call('kb_list', {})];
    const { content } = await client.callTool({ name: 'find', arguments: { query: '' } });
    for (const blocks of [...answers.map((each) => each.content), content as Block[]]) {
      assert.deepEqual(
        blocks.map(({ type }) => type),
        ['text'],
      );
    }
  });

  it('revisions without links get none', async () => {
    for (const [revision, expected] of [
      ['2025-06-18', 2],
      ['2025-03-26', 1],
      ['2024-11-05', 1],
    ] as const) {
      const session = await openSession(server.url, revision);
      const { messages } = await session.call(1, 'list_notes', { query: 'zirconium' });
      assert.equal((resultOf(messages[0])['content'] as Block[]).length, expected, revision);
    }
  });

  it("clients since 2025-11-25 get the console's icon once, however they ask", async () => {
    const icon = new URL('../../src/console/assets/icon.svg', import.meta.url);
    const src = `data:image/svg+xml;base64,${readFileSync(icon).toString('base64')}`;
    assert.ok(src.length <= 600);
    const icons = [{ src, mimeType: 'image/svg+xml', sizes: ['any'] }];
    for (const client of Object.values(clients)) {
      const { title, icons: shown } = client.getServerVersion() ?? assert.fail();
      assert.deepEqual([title, shown], ['Carrel', icons]);
    }
    const initialize = async (revision: string, clientInfo: object): Promise<Fields> => {
      const params = { ...initializeParams(revision), clientInfo };
      const { messages } = await post(server.url, { jsonrpc: '2.0', id: 1, method: 'initialize', params });
      return resultOf(messages[0])['serverInfo'] as Fields;
    };
    const plain = { name: 'c', version: '1' };
    // For a client with icons, the SDK answers the handshake.
    for (const clientInfo of [plain, { ...plain, icons: [{ src: 'https://example.com/c.png' }] }]) {
      assert.deepEqual((await initialize('2025-11-25', clientInfo))['icons'], icons);
      for (const older of ['2025-06-18', '2025-03-26', '2024-11-05']) {
        assert.ok(!('icons' in (await initialize(older, clientInfo))), older);
      }
    }
    const shown: unknown[] = [];
    for (const [method, params] of [
      ...([
        ['server/discover', {}],
        ['tools/list', {}],
        ['prompts/list', {}],
      ] as const),
      ['tools/call', { name: 'list_notes', arguments: {} }],
    ] as const) {
      const { headers, message } = modernRequest(method, params);
      const { messages } = await post(server.url, message, headers);
      const { [infoKey]: info } = resultOf(messages[0])['_meta'] as Record<string, Fields>;
      assert.equal(info?.['title'], 'Carrel', method);
      shown.push(info['icons']);
    }
    assert.deepEqual(shown, [icons, undefined, undefined, undefined]);
  });

  it('on stdio the icon is included too, and links only on request', async () => {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
    const dataDir = makeFolder(owner);
    const args = [carrelProgram, 'serve', '--toolsets', 'research'];
    const env = cleanEnv(dataDir, { EMBEDDING_PROVIDER: 'none', ENABLE_RERANKING: 'false' });
    await client.connect(new StdioClientTransport({ command: process.execPath, args, env, cwd: dataDir }));
    try {
      assert.equal(client.getNegotiatedProtocolVersion(), newest);
      assert.equal(client.getServerVersion()?.icons?.length, 1);
      await client.callTool({ name: 'save_note', arguments: { title: 'Melting', content: 'Zirconium' } });
      const asked = { query: 'zirconium', explain: true };
      const { content } = await client.callTool({ name: 'list_notes', arguments: asked });
      assert.match(JSON.stringify(content), /carrel:\/\/notes/);
      assert.equal((content as Block[]).length, 1);
    } finally {
      await client.close();
    }
  });

  it('tools, prompts, resources and their templates have titles for people', async () => {
    const { client } = connected(newest);
    const [{ tools }, { prompts }, { resourceTemplates }] = await Promise.all([
      client.listTools(),
      client.listPrompts(),
      client.listResourceTemplates(),
    ]);
    const resources: { name: string; title?: string | undefined }[] = [];
    for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
      const page = await client.listResources(cursor === undefined ? {} : { cursor });
      resources.push(...page.resources);
      cursor = page.nextCursor;
    }
    for (const each of [tools, prompts, resourceTemplates, resources]) {
      assert.ok(each.length > 1);
      assert.deepEqual(
        each.filter(({ title }) => !title),
        [],
      );
    }
  });
});
