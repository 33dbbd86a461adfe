/** A minimal proxy on the official SDK: one tool, one request to Fess, four fields of each hit. */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';
import { Server } from '@modelcontextprotocol/server';

const [, , fessUrl = '', upstreamQuery = ''] = process.argv;

function createProxy(): Server {
  const server = new Server({ name: 'proxy', version: '0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({ tools: [tool] }));
  server.setRequestHandler('tools/call', async ({ params }) => {
    const query = new URLSearchParams(upstreamQuery);
    query.set('q', String(params.arguments?.['query']));
    const response = await fetch(`${fessUrl}/api/v1/documents?${query}`);
    const { record_count: total, data } = (await response.json()) as { record_count: number; data: Hit[] };
    const results = data.map(({ title, url, digest, doc_id }) => ({ title, url, digest, doc_id }));
    const result = { total, results };
    return { content: [{ type: 'text' as const, text: JSON.stringify(result) }], structuredContent: result };
  });
  return server;
}

type Hit = Record<'title' | 'url' | 'digest' | 'doc_id', string>;

const tool = {
  name: 'fess_finance_search',
  description: 'Searches.',
  inputSchema: { type: 'object' as const, properties: { query: { type: 'string' } }, required: ['query'] },
};

const sessions = new Map<string, NodeStreamableHTTPServerTransport>();

async function openSession(): Promise<NodeStreamableHTTPServerTransport> {
  const transport: NodeStreamableHTTPServerTransport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: true,
    onsessioninitialized: (id) => void sessions.set(id, transport),
  });
  await createProxy().connect(transport);
  return transport;
}

const listener = createServer(async (request, response) => {
  const transport = sessions.get(String(request.headers['mcp-session-id'])) ?? (await openSession());
  await transport.handleRequest(request, response);
});
listener.listen(0, '127.0.0.1', () => {
  process.stderr.write(`listening on http://127.0.0.1:${(listener.address() as AddressInfo).port}/mcp\n`);
});
