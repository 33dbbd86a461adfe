import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe } from 'node:test';
import { Client, type Tool } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { fakeModel } from '../../fakes/ollama.ts';
import { carrelProgram, cleanEnv } from '../../support/child-program.ts';
import { checkNamed } from '../../support/named-fields.ts';
import { until } from '../../support/pause.ts';
import { createTestDatabase, serverObstacle, startRealPostgres } from '../../support/postgres.ts';

/** A tool's answer as JSON. */
export type Answer = Record<string, unknown> & { results: Found[]; result: Found[] };

export interface Found extends Record<string, unknown> {
  id: number;
  text_content: string;
  scores: Record<string, number | null>;
}

export interface ContextServer {
  readonly backend: 'sqlite' | 'postgresql';
  client: Client;
  /** The structured answer of a call that must succeed and fit the tool's output schema. */
  call(tool: string, input?: Record<string, unknown>): Promise<Answer>;
  /** Like `call`, but repeats a search until all its entries are embedded. On a busy machine this may take a while. */
  callEmbedded: ContextServer['call'];
  /** The message of a call that must fail as a tool result. */
  fail(tool: string, input?: Record<string, unknown>): Promise<string>;
  store(thread: string, text: string, more?: Record<string, unknown>): Promise<number>;
}

/** Like `onEachDatabase`, but on SQLite only, because what it tests does not depend on the database. */
export function onSqlite(name: string, suite: (server: ContextServer) => void, env: Record<string, string> = {}) {
  describe(name, () => suite(connect('sqlite', env)));
}

/**
 * Runs the suite against `carrel context` over stdio with the official client, once on each database. Vectors come from a fake
 * model unless `env` names another one.
 */
export function onEachDatabase(name: string, suite: (server: ContextServer) => void, env: Record<string, string> = {}) {
  describe(`${name}, SQLite`, () => suite(connect('sqlite', env)));
  const obstacle = serverObstacle();
  describe(`${name}, PostgreSQL`, { skip: obstacle ?? false }, () => {
    if (obstacle === undefined) suite(connect('postgresql', env));
  });
}

function connect(backend: ContextServer['backend'], env: Record<string, string>): ContextServer {
  const closings: (() => unknown)[] = [];
  let tools: Tool[] = [];
  const server: ContextServer = {
    backend,
    client: new Client({ name: 'test', version: '1' }),
    async call(tool, input = {}) {
      const result = await server.client.callTool({ name: tool, arguments: input });
      const [content] = Array.isArray(result.content) ? result.content : [];
      assert.ok(!result.isError, `${tool} failed: ${JSON.stringify(content)}`);
      assert.deepEqual(answerOf(result.content), result.structuredContent);
      checkNamed(tools, tool, result.structuredContent);
      return result.structuredContent as Answer;
    },
    async callEmbedded(tool, input) {
      return until(async () => {
        const answer = await server.call(tool, input);
        return answer['degraded'] !== 'embeddings_pending' && answer;
      });
    },
    async fail(tool, input = {}) {
      const result = await server.client.callTool({ name: tool, arguments: input });
      const [content] = Array.isArray(result.content) ? result.content : [];
      assert.ok(result.isError, `${tool} should have failed`);
      assert.ok(content?.type === 'text');
      return content.text;
    },
    async store(thread, text, more = {}) {
      const answer = await server.call('store_context', { thread_id: thread, source: 'user', text, ...more });
      return Number(answer['context_id']);
    },
  };
  before(async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'carrel-test-'));
    closings.push(() => rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 }));
    const settings = backend === 'sqlite' ? {} : await postgresSettings(closings);
    const owner = { after: (close: () => unknown) => void closings.push(close) };
    const model = env['EMBEDDING_PROVIDER'] === undefined ? await fakeModel(owner) : {};
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [carrelProgram, 'context'],
      env: cleanEnv(dataDir, { ...settings, ...model, ...env }),
      cwd: dataDir,
    });
    closings.push(() => server.client.close());
    await server.client.connect(transport);
    // The client checks answers against the listed schemas.
    tools = (await server.client.listTools()).tools;
  });
  after(async () => {
    for (const close of closings.reverse()) await close();
  });
  return server;
}

/** Parses the text: the whole answer, or the list that the original returns. */
function answerOf(content: unknown): unknown {
  const [text] = (Array.isArray(content) ? content : []).map((each) => JSON.parse(each.text));
  return Array.isArray(text) ? { result: text } : text;
}

async function postgresSettings(closings: (() => unknown)[]): Promise<Record<string, string>> {
  const postgres = await startRealPostgres();
  assert.ok(typeof postgres !== 'string', String(postgres));
  closings.push(() => postgres.stop());
  const database = await createTestDatabase(postgres);
  closings.push(() => database.drop());
  return { STORAGE_BACKEND: 'postgresql', POSTGRESQL_CONNECTION_STRING: database.url };
}
