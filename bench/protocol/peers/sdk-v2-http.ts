import { randomUUID } from 'node:crypto';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { httpMode } from './echo.ts';
import { listenOnLoopback } from './listen.ts';
import { createSdkServer } from './sdk-v2-server.ts';

const mode = httpMode();

if (mode === 'modern') {
  const handle = toNodeHandler(createMcpHandler(() => createSdkServer()));
  // A cast, because the SDK's optional fields don't satisfy exactOptionalPropertyTypes.
  listenOnLoopback((request, response) => void handle(request as Parameters<typeof handle>[0], response));
} else {
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>();
  listenOnLoopback(async (request, response) => {
    const session = sessions.get(String(request.headers['mcp-session-id']));
    const transport = session ?? (await openSession());
    await transport.handleRequest(request, response);
  });

  const openSession = async (): Promise<NodeStreamableHTTPServerTransport> => {
    const transport: NodeStreamableHTTPServerTransport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: mode === 'json',
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await createSdkServer().connect(transport);
    return transport;
  };
}
