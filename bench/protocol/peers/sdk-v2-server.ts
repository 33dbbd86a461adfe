import { Server } from '@modelcontextprotocol/server';
import { answerEcho, echo } from './echo.ts';

/** The low-level server with one tool, as in the SDK's documentation. */
export function createSdkServer(): Server {
  const server = new Server({ name: 'bench', version: '0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({ tools: [tool] }));
  server.setRequestHandler('tools/call', ({ params }) => answerEcho(params.arguments));
  return server;
}

const tool = {
  ...echo,
  inputSchema: { ...echo.inputSchema, required: [...echo.inputSchema.required] },
  outputSchema: { ...echo.outputSchema, required: [...echo.outputSchema.required] },
};
