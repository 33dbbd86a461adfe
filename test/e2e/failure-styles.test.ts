import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { finance, makeHome } from '../acceptance/fess/bridge.ts';
import { carrelProgram } from '../support/child-program.ts';
import { type Message, type StdioClient, startStdioClient } from '../support/stdio-client.ts';

const calls: [role: string, tool: string, args: object, facts: Record<string, unknown>][] = [
  ['research', 'fetch_page', { url: 'http://127.0.0.1/' }, { code: 'fetch_invalid_url' }],
  ['research', 'get_note', { id: randomUUID() }, { code: 'note_not_found' }],
  ['research', 'save_note', { title: '' }, { code: 'note_invalid' }],
  ['research', 'list_notes', { limit: 0 }, { code: 'validation_error' }],
  ['fess', 'fess_finance_search', { query: 'x' }, { code: 'fess_unreachable', endpoint: '/api/v1/documents' }],
  ['fess', 'fess_finance_search', { query: 'x', pageSize: 0 }, { code: 'invalid_arguments' }],
];

// Nothing listens on port 9.
const home = makeHome({ after }, { fessBaseUrl: 'http://127.0.0.1:9', domain: finance });
const env = { HOME: home, CARREL_FESS_CONFIG: join(home, '.mcp-feiss', 'config.json') };
let lastId = 0;

function ask(client: StdioClient, tool: string, args: object): Promise<Message> {
  lastId += 1;
  return client.request(lastId, 'tools/call', { name: tool, arguments: args });
}

async function start(role: string): Promise<StdioClient> {
  const client = startStdioClient(carrelProgram, [role, '--transport', 'stdio'], env);
  await client.handshake('2025-03-26');
  return client;
}

describe('carrel serve', () => {
  let client: StdioClient;
  before(async () => {
    client = await start('serve');
  });
  after(() => client.end());

  for (const [, tool, args, facts] of calls) {
    test(`contract §8: ${facts['code']} of ${tool} is a tool result`, async () => {
      const { error, result } = await ask(client, tool, args);
      assert.equal(error, undefined);
      const { isError, content, structuredContent } = result as unknown as {
        isError: boolean;
        content: { text: string }[];
        structuredContent: { error: Record<string, unknown> };
      };
      assert.equal(isError, true);
      assert.deepEqual(Object.keys(structuredContent), ['error']);
      assert.partialDeepStrictEqual(structuredContent.error, facts);
      assert.equal(content[0]?.text, structuredContent.error['message']);
    });
  }

  test('its schemas allow a failure: no field is required', async () => {
    const { result } = await client.request('list', 'tools/list');
    interface Schema {
      required?: string[];
      anyOf?: Schema[];
    }
    const { tools } = result as unknown as { tools: { name: string; outputSchema: Schema }[] };
    assert.ok(tools.length > 40);
    for (const { name, outputSchema } of tools) {
      const [own = outputSchema] = outputSchema.anyOf ?? [];
      assert.equal(own.required, undefined, name);
    }
  });
});

for (const role of ['research', 'fess']) {
  describe(`carrel ${role}`, () => {
    let client: StdioClient;
    before(async () => {
      client = await start(role);
    });
    after(() => client.end());

    for (const [, tool, args, facts] of calls.filter(([owner]) => owner === role)) {
      test(`contract §2: ${facts['code']} of ${tool} is a JSON-RPC error`, async () => {
        const { error, result } = await ask(client, tool, args);
        assert.equal(result, undefined);
        assert.equal(error?.code, facts['code'] === 'invalid_arguments' ? -32_602 : -32_000);
        assert.partialDeepStrictEqual(error?.data, facts);
      });
    }
  });
}
