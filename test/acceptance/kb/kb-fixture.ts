import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Owner } from '../../fakes/loopback-server.ts';
import { type Carrel, startCarrel } from '../../support/child-program.ts';
import { checkNamed } from '../../support/named-fields.ts';
import { until } from '../../support/pause.ts';
import { createTestDatabase, serverObstacle, startRealPostgres } from '../../support/postgres.ts';
import { type RecordingProxy, startRecordingProxy } from '../../support/recording-proxy.ts';

export type Answer = Record<string, unknown>;

export interface Hit extends Record<string, unknown> {
  document_id: number;
  chunk_id: number;
  text: string;
  tags: string[];
  collection: string | null;
}

export interface KbAgent {
  client: Client;
  /** The structured answer of a call that must succeed and fit the tool's output schema. */
  call(tool: string, input?: Record<string, unknown>): Promise<Answer>;
  /** `structuredContent.error` of a call that must fail as a tool result. */
  fail(tool: string, input?: Record<string, unknown>): Promise<{ code: string; message: string } & Answer>;
}

export const engineKey = 'engine-secret';
export const agentKey = 'agent-secret';

/** `carrel engine` and `carrel kb` as two processes, with a recording proxy between them. */
export interface KbServers extends KbAgent {
  readonly backend: 'sqlite' | 'postgresql';
  engine: Carrel;
  kb: Carrel;
  proxy: RecordingProxy;
  /** Starts another kb server for the same engine. Undefined variables are omitted. */
  startKb(t: Owner, env?: Record<string, string | undefined>, options?: { dataDir?: string }): Promise<Carrel>;
  connect(t: Owner, url: string, token?: string): Promise<KbAgent>;
  /** Waits until the job has finished, and returns its document. */
  ingested(answer: Answer): Promise<number>;
  addNote(text: string, more?: Record<string, unknown>): Promise<number>;
  /** Requests to the engine with this method and path since the mark. */
  asked(since: number, method: string, path: string): { url: string; text: string }[];
}

/** Runs the suite once on each database. */
export function onEachDatabase(name: string, suite: (servers: KbServers) => void): void {
  describe(`${name}, SQLite`, () => suite(startServers('sqlite')));
  const obstacle = serverObstacle();
  describe(`${name}, PostgreSQL`, { skip: obstacle ?? false }, () => {
    if (obstacle === undefined) suite(startServers('postgresql'));
  });
}

function startServers(backend: KbServers['backend']): KbServers {
  const closings: (() => unknown)[] = [];
  const owner: Owner = { after: (clean) => void closings.push(clean) };
  const servers = { backend } as KbServers;
  before(async () => {
    const storage = backend === 'sqlite' ? {} : await postgresSettings(owner);
    servers.engine = await startCarrel(owner, ['engine'], { env: { ...storage, KB_API_KEY: engineKey } });
    servers.proxy = await startRecordingProxy(owner, servers.engine.origin);
    Object.assign(servers, methodsOf(servers));
    servers.kb = await servers.startKb(owner);
    Object.assign(servers, await servers.connect(owner, servers.kb.url, agentKey));
  });
  after(async () => {
    for (const close of closings.reverse()) await close();
  });
  return servers;
}

function methodsOf(servers: KbServers): Partial<KbServers> {
  return {
    startKb: (t, env = {}, options = {}) =>
      startCarrel(t, ['kb'], {
        ...options,
        env: given({ KB_ENGINE_URL: servers.proxy.origin, KB_API_KEY: engineKey, KB_MCP_API_KEY: agentKey, ...env }),
      }),
    connect: connectAgent,
    async ingested(answer) {
      const id = answer['job_id'];
      assert.ok(id !== undefined, JSON.stringify(answer));
      return until(async () => {
        const { jobs } = await servers.call('kb_jobs', { job_id: id });
        const [job] = jobs as { status: string; document_id: number; error: string }[];
        assert.ok(job && job.status !== 'failed', job?.error);
        return job.status === 'done' && job.document_id;
      });
    },
    addNote: async (text, more = {}) => servers.ingested(await servers.call('kb_addnote', { text, ...more })),
    asked: (since, method, path) =>
      servers.proxy.requests
        .slice(since)
        .filter((each) => each.method === method && each.url.split('?', 1)[0] === `/api/v1${path}`)
        .map(({ url, text }) => ({ url, text: Buffer.from(text, 'latin1').toString('utf8') })),
  };
}

function given(env: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** The official client over Streamable HTTP. */
export async function connectAgent(t: Owner, url: string, token?: string): Promise<KbAgent> {
  const client = new Client({ name: 'test', version: '1' });
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  t.after(() => client.close());
  // The client checks answers against the listed schemas.
  const { tools } = await client.listTools();
  const send = async (tool: string, input: Record<string, unknown>) => {
    const result = await client.callTool({ name: tool, arguments: input });
    const [content] = Array.isArray(result.content) ? result.content : [];
    assert.ok(content?.type === 'text');
    return { result, text: content.text };
  };
  return {
    client,
    async call(tool, input = {}) {
      const { result, text } = await send(tool, input);
      assert.ok(!result.isError, `${tool} failed: ${text}`);
      assert.deepEqual(JSON.parse(text), result.structuredContent);
      checkNamed(tools, tool, result.structuredContent);
      return result.structuredContent as Answer;
    },
    async fail(tool, input = {}) {
      const { result, text } = await send(tool, input);
      assert.ok(result.isError, `${tool} should have failed: ${text}`);
      const { error } = result.structuredContent as { error: { code: string; message: string } & Answer };
      assert.equal(text, error.message);
      return error;
    },
  };
}

async function postgresSettings(owner: Owner): Promise<Record<string, string>> {
  const postgres = await startRealPostgres();
  assert.ok(typeof postgres !== 'string', String(postgres));
  owner.after(() => postgres.stop());
  const database = await createTestDatabase(postgres);
  owner.after(() => database.drop());
  return { STORAGE_BACKEND: 'postgresql', POSTGRESQL_CONNECTION_STRING: database.url };
}
