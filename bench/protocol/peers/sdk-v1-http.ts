import { randomUUID } from 'node:crypto';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { httpMode } from './echo.ts';
import { listenOnLoopback } from './listen.ts';
import { createSdkServer } from './sdk-v1-server.ts';

const mode = httpMode();
const sessions = new Map<string, StreamableHTTPServerTransport>();

listenOnLoopback(async (request, response) => {
  const session = sessions.get(String(request.headers['mcp-session-id']));
  const transport = session ?? (await openSession());
  await transport.handleRequest(request, response);
});

async function openSession(): Promise<StreamableHTTPServerTransport> {
  const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: mode === 'json',
    onsessioninitialized: (id) => void sessions.set(id, transport),
  });
  // A cast, because the SDK's optional fields don't satisfy exactOptionalPropertyTypes.
  await createSdkServer().connect(transport as Transport);
  return transport;
}
