import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createMCPClient, MCPClientError } from '@ai-sdk/mcp';
import { StdioMCPTransport } from '@ai-sdk/mcp/mcp-stdio';
import {
  carrelProgram,
  echoProgram,
  type ListeningProgram,
  sourceCacheEnv,
  startListening,
} from '../../support/child-program.ts';
import { sharedEcho } from '../../support/shared-echo.ts';

type AiClient = Awaited<ReturnType<typeof createMCPClient>>;

interface Case {
  wire: 'stdio' | 'http' | 'sse';
  revisions: 'every' | 'fess' | 'cody';
  /** Whether the client tries `server/discover` first. */
  discovers: boolean;
  /** Several where the client may fall back to a handshake: it gives a program only a second to start. */
  agreed: readonly string[];
}

const cases: readonly Case[] = [
  { wire: 'stdio', revisions: 'every', discovers: false, agreed: ['2025-11-25'] },
  { wire: 'stdio', revisions: 'every', discovers: true, agreed: ['2026-07-28', '2025-11-25'] },
  { wire: 'stdio', revisions: 'cody', discovers: false, agreed: ['2024-11-05'] },
  { wire: 'http', revisions: 'every', discovers: false, agreed: ['2025-11-25'] },
  { wire: 'http', revisions: 'every', discovers: true, agreed: ['2026-07-28'] },
  { wire: 'http', revisions: 'fess', discovers: true, agreed: ['2025-03-26'] },
  { wire: 'http', revisions: 'cody', discovers: true, agreed: ['2024-11-05'] },
  { wire: 'sse', revisions: 'cody', discovers: false, agreed: ['2024-11-05'] },
];

for (const { wire, revisions, discovers, agreed } of cases) {
  const how = discovers ? 'discovering' : 'with a handshake';
  describe(`@ai-sdk/mcp over ${wire}, ${how}, server offers ${revisions} (contract §2)`, () => {
    const marker = `given up over ${wire} ${how}`;
    let program: ListeningProgram | undefined;
    let client: AiClient;

    before(async () => {
      program = wire === 'stdio' ? undefined : await sharedEcho(revisions);
      client = await createMCPClient({
        protocolVersionDiscovery: discovers,
        transport: program
          ? {
              type: wire === 'sse' ? 'sse' : 'http',
              url: String(new URL(wire === 'sse' ? '/sse' : '/mcp', program.url)),
            }
          : new StdioMCPTransport({
              command: process.execPath,
              args: [echoProgram, '--revisions', revisions],
              env: sourceCacheEnv,
              stderr: 'ignore',
            }),
      });
    });
    after(() => client.close());

    it('agrees on the revision and lists the tools', async () => {
      assert(agreed.includes(client.initializeResult.protocolVersion));
      assert.equal(client.serverInfo.name, 'echo');
      const { tools } = await client.listTools();
      assert.equal(tools[0]?.name, 'echo');
    });

    it('calls tools, also several at once', async () => {
      const texts = Array.from({ length: 20 }, (_, index) => `text ${index}`);
      const answers = await Promise.all(texts.map((text) => client.callTool({ name: 'echo', arguments: { text } })));
      assert.deepEqual(
        answers.map(({ structuredContent }) => structuredContent),
        texts.map((text) => ({ text })),
      );
    });

    it('sees code and data of a JSON-RPC error, and a tool result for the other style', async () => {
      await assert.rejects(client.callTool({ name: 'fail_rpc' }), (error: unknown) => {
        assert(error instanceof MCPClientError);
        assert.equal(error.code, -32_000);
        assert.deepEqual(error.data, { code: 'unavailable', retryAfter: 3, shelf: 7 });
        return true;
      });
      const failed = await client.callTool({ name: 'fail_result' });
      assert.equal(failed.isError, true);
    });

    it('reads resources page by page, and gets the number that its revision has for a missing one', async () => {
      const first = await client.listResources();
      assert.equal(first.resources[0]?.uri, 'echo://one');
      const second = await client.listResources({ params: { cursor: String(first.nextCursor) } });
      assert.equal(second.resources[0]?.uri, 'echo://two');
      assert.equal(second.nextCursor, undefined);
      const { contents } = await client.readResource({ uri: 'echo://word' });
      assert.equal(contents[0]?.['text'], 'word');
      await assert.rejects(client.readResource({ uri: 'echo://nothing' }), (error: unknown) => {
        assert(error instanceof MCPClientError);
        const modern = client.initializeResult.protocolVersion === '2026-07-28';
        assert.equal(error.code, modern ? -32_602 : -32_002);
        assert.deepEqual(error.data, { code: 'resource_not_found', uri: 'echo://nothing' });
        return true;
      });
    });

    it('aborts a call and continues', async () => {
      const controller = new AbortController();
      const call = client.callTool({
        name: 'slow',
        arguments: { marker, delay_ms: 30_000 },
        options: { signal: controller.signal },
      });
      call.catch(() => {});
      await program?.waitForOutput(new RegExp(`^started ${marker}$`, 'm'));
      controller.abort();
      await assert.rejects(call);
      const { structuredContent } = await client.callTool({ name: 'echo', arguments: { text: 'on' } });
      assert.deepEqual(structuredContent, { text: 'on' });
    });
  });
}

describe('@ai-sdk/mcp and tokens (contract §2)', () => {
  it('is rejected without the token and served with it', async () => {
    const program = await startListening(echoProgram, ['--token', 'correct-horse']);
    const connect = (headers: Record<string, string>) =>
      createMCPClient({ transport: { type: 'http', url: program.url, headers } });
    await assert.rejects(connect({}), /401/);
    await assert.rejects(connect({ authorization: 'Bearer wrong' }), /401/);
    const client = await connect({ authorization: 'Bearer correct-horse' });
    assert.equal((await client.listTools()).tools[0]?.name, 'echo');
    await client.close();
    await program.stop();
  });
});

describe('@ai-sdk/mcp with the product itself (contract §1)', () => {
  it('initializes and lists tools over HTTP in either era', async () => {
    const program = await startListening(carrelProgram, ['serve']);
    for (const protocolVersionDiscovery of [false, true]) {
      const client = await createMCPClient({ protocolVersionDiscovery, transport: { type: 'http', url: program.url } });
      assert.equal(client.serverInfo.name, 'carrel');
      assert(Array.isArray((await client.listTools()).tools));
      await client.close();
    }
    assert.equal(await program.stop(), 0);
  });
});
