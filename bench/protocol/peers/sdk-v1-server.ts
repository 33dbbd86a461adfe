import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { answerEcho, echo } from './echo.ts';

/** The low-level server with one tool, as in the SDK's documentation. */
export function createSdkServer(): Server {
  const server = new Server({ name: 'bench', version: '0' }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [echo] }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => answerEcho(params.arguments));
  return server;
}
