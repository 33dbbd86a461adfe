import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import {
  Client,
  ProtocolError,
  ResourceNotFoundError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import {
  carrelProgram,
  cleanEnv,
  echoProgram,
  makeFolder,
  sourceCacheEnv,
  startListening,
} from '../../support/child-program.ts';
import { sharedEcho } from '../../support/shared-echo.ts';
import { watchText } from '../../support/watch-text.ts';

type Wire = 'stdio' | 'http' | 'sse';
type Mode = 'legacy' | 'auto' | { pin: string };

interface Case {
  wire: Wire;
  revisions: 'every' | 'fess' | 'cody';
  mode: Mode;
  /** The revision that client and server must agree on (contract §2). */
  agreed: string;
}

const cases: readonly Case[] = [
  { wire: 'stdio', revisions: 'every', mode: 'legacy', agreed: '2025-11-25' },
  { wire: 'stdio', revisions: 'every', mode: 'auto', agreed: '2026-07-28' },
  { wire: 'stdio', revisions: 'fess', mode: 'auto', agreed: '2025-03-26' },
  { wire: 'stdio', revisions: 'cody', mode: 'auto', agreed: '2024-11-05' },
  { wire: 'http', revisions: 'every', mode: 'legacy', agreed: '2025-11-25' },
  { wire: 'http', revisions: 'every', mode: { pin: '2026-07-28' }, agreed: '2026-07-28' },
  { wire: 'http', revisions: 'every', mode: 'auto', agreed: '2026-07-28' },
  { wire: 'http', revisions: 'fess', mode: 'auto', agreed: '2025-03-26' },
  { wire: 'http', revisions: 'cody', mode: 'auto', agreed: '2024-11-05' },
  { wire: 'sse', revisions: 'cody', mode: 'legacy', agreed: '2024-11-05' },
];

for (const { wire, revisions, mode, agreed } of cases) {
  const asked = typeof mode === 'string' ? mode : `pinned to ${mode.pin}`;
  describe(`@modelcontextprotocol/client over ${wire}, ${asked}, server offers ${revisions} (contract §2)`, () => {
    let client: Client;
    let waitForOutput: (pattern: RegExp) => Promise<unknown>;

    before(async () => {
      client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
      let transport: Transport;
      if (wire === 'stdio') {
        const args = [echoProgram, '--revisions', revisions];
        const stdio = new StdioClientTransport({
          command: process.execPath,
          args,
          env: sourceCacheEnv,
          stderr: 'pipe',
        });
        assert(stdio.stderr instanceof Readable);
        waitForOutput = watchText(stdio.stderr).waitForOutput;
        transport = stdio;
      } else {
        const program = await sharedEcho(revisions);
        waitForOutput = program.waitForOutput;
        transport =
          wire === 'http'
            ? new StreamableHTTPClientTransport(new URL(program.url))
            : new SSEClientTransport(new URL('/sse', program.url));
      }
      await client.connect(transport);
    });
    after(() => client.close());

    it('negotiates an offered revision', () => {
      assert.equal(client.getNegotiatedProtocolVersion(), agreed);
      assert.equal(client.getServerVersion()?.name, 'echo');
    });

    it('lists tools in their order, with schemas and annotations', async () => {
      const { tools } = await client.listTools();
      assert.deepEqual(
        tools.map(({ name }) => name),
        ['echo', 'slow', 'count', 'take', 'large', 'fail_rpc', 'crash_rpc', 'fail_result', 'crash_result'],
      );
      const [echo] = tools;
      assert.equal(echo?.annotations?.readOnlyHint, true);
      assert.deepEqual(echo?.inputSchema.required, ['text']);
    });

    it('answers with structured content and the same JSON as text', async () => {
      const { content, structuredContent } = await client.callTool({ name: 'echo', arguments: { text: 'grüß' } });
      assert.deepEqual(structuredContent, { text: 'grüß' });
      assert.deepEqual(content, [{ type: 'text', text: '{"text":"grüß"}' }]);
    });

    it('reports progress that only grows, before the answer', async () => {
      const steps: unknown[] = [];
      const call = { name: 'count', arguments: { marker: 'm', steps: 3, delay_ms: 100 } };
      await client.callTool(call, {
        onprogress: ({ progress, total, message }) => steps.push([progress, total, message]),
      });
      // This client drops progress that it reads together with the answer, as on a busy machine.
      const sent = [1, 2, 3].map((progress) => [progress, 3, 'm']);
      assert.ok(steps.length > 0);
      assert.deepEqual(steps, sent.slice(0, steps.length));
    });

    it('cancels: the tool stops, and the connection survives', async () => {
      const controller = new AbortController();
      const marker = `cancel ${wire} ${asked}`;
      const call = client.callTool(
        { name: 'slow', arguments: { marker, delay_ms: 30_000 } },
        { signal: controller.signal },
      );
      call.catch(() => {});
      await waitForOutput(new RegExp(`^started ${marker}$`, 'm'));
      controller.abort();
      await assert.rejects(call);
      await waitForOutput(new RegExp(`^aborted ${marker}$`, 'm'));
      const { structuredContent } = await client.callTool({ name: 'echo', arguments: { text: 'still here' } });
      assert.deepEqual(structuredContent, { text: 'still here' });
    });

    it('fails as a JSON-RPC error with code and data, without foreign text', async () => {
      await assert.rejects(client.callTool({ name: 'fail_rpc' }), (error: unknown) => {
        assert(error instanceof ProtocolError);
        assert.equal(error.code, -32_000);
        assert.equal(error.message, 'The archive is closed. Try again later.');
        assert.deepEqual(error.data, { code: 'unavailable', retryAfter: 3, shelf: 7 });
        return true;
      });
    });

    it('fails with a tool result if the toolset says so', async () => {
      const { isError, content, structuredContent } = await client.callTool({ name: 'fail_result' });
      assert.equal(isError, true);
      assert.deepEqual(content, [{ type: 'text', text: 'The archive is closed. Try again later.' }]);
      const message = 'The archive is closed. Try again later.';
      assert.deepEqual(structuredContent, { error: { code: 'unavailable', retryAfter: 3, shelf: 7, message } });
    });

    it('reveals only an incident id when a tool crashes', async () => {
      await assert.rejects(client.callTool({ name: 'crash_rpc' }), (error: unknown) => {
        assert(error instanceof ProtocolError);
        assert.equal(error.code, -32_603);
        assert.match(error.message, /^Internal error\. The log has the details under incident \S+\.$/);
        assert(!JSON.stringify(error.data).includes('somebody'));
        return true;
      });
      const { isError, content } = await client.callTool({ name: 'crash_result' });
      assert.equal(isError, true);
      assert.match(JSON.stringify(content), /incident/);
      assert(!JSON.stringify(content).includes('somebody'));
    });

    it('names the argument that does not fit', async () => {
      const call = client.callTool({ name: 'slow', arguments: { marker: 7, delay_ms: -1 } });
      await assert.rejects(call, (error: unknown) => {
        assert(error instanceof ProtocolError);
        assert.equal(error.code, -32_602);
        assert.match(error.message, /marker must be a string; delay_ms must be at least 0/);
        return true;
      });
    });

    it('lists, reads and completes resources', async () => {
      const { resources } = await client.listResources();
      assert.deepEqual(
        resources.map(({ uri }) => uri),
        ['echo://one', 'echo://two'],
      );
      const { contents } = await client.readResource({ uri: 'echo://hello' });
      assert.equal(contents[0] && 'text' in contents[0] ? contents[0].text : undefined, 'hello');
      const ref = { type: 'ref/resource' as const, uri: 'echo://{word}' };
      const { completion } = await client.complete({ ref, argument: { name: 'word', value: 't' } });
      assert.deepEqual(completion.values, ['two']);
    });

    it('distinguishes a missing resource from a failure', async () => {
      await assert.rejects(client.readResource({ uri: 'echo://nothing' }), (error: unknown) => {
        assert(error instanceof ProtocolError);
        assert.equal(error.message, 'No resource has this URI.');
        // This client has a separate error class for -32002, which later revisions no longer have.
        assert.equal(error instanceof ResourceNotFoundError, agreed !== '2026-07-28');
        assert.equal(error.code, -32_602);
        return true;
      });
    });
  });
}

describe('@modelcontextprotocol/client with the product itself (contract §1)', () => {
  it('initializes and lists tools over stdio', async () => {
    const folder = makeFolder({ after });
    const server = { command: process.execPath, args: [carrelProgram, 'serve'], env: cleanEnv(folder) };
    await listTools(new StdioClientTransport({ ...server, stderr: 'ignore' }), 'legacy', '2025-11-25');
  });

  it('initializes and lists tools over HTTP, and over the HTTP+SSE pair under --cody', async () => {
    const plain = await startListening(carrelProgram, ['serve']);
    const cody = await startListening(carrelProgram, ['serve', '--cody']);
    const modern = '2026-07-28';
    await listTools(new StreamableHTTPClientTransport(new URL(plain.url)), 'legacy', '2025-11-25');
    await listTools(new StreamableHTTPClientTransport(new URL(plain.url)), { pin: modern }, modern);
    await listTools(new StreamableHTTPClientTransport(new URL(cody.url)), 'legacy', '2024-11-05');
    await listTools(new SSEClientTransport(new URL('/sse', cody.url)), 'legacy', '2024-11-05');
    assert.deepEqual(await Promise.all([plain.stop(), cody.stop()]), [0, 0]);
  });

  async function listTools(transport: Transport, mode: Mode, agreed: string): Promise<void> {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    await client.connect(transport);
    assert.equal(client.getNegotiatedProtocolVersion(), agreed);
    assert.equal(client.getServerVersion()?.name, 'carrel');
    assert(Array.isArray((await client.listTools()).tools));
    await client.close();
  }
});
