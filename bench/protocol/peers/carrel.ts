/** Carrel's own transports and dispatch, with one toolset of one tool. */
import * as z from 'zod';
import { silentLogger } from '../../../src/base/log.ts';
import { createCallJobs } from '../../../src/jobs/call-jobs.ts';
import { messageLimits } from '../../../src/mcp/messages/messages.ts';
import { everyRevision } from '../../../src/mcp/protocol-versions.ts';
import { serveOverHttp, serveOverStdio } from '../../../src/mcp/serve.ts';
import { createServerFeatures } from '../../../src/mcp/server-features.ts';
import { defineTool } from '../../../src/tools/tool.ts';
import { echo } from './echo.ts';

const tool = defineTool({
  name: echo.name,
  title: echo.title,
  description: echo.description,
  effect: 'read',
  input: z.object({ text: z.string() }),
  output: z.object({ text: z.string() }),
  run: async ({ text }) => ({ text }),
});

const features = createServerFeatures({
  serverInfo: { name: 'bench', version: '0' },
  instructions: '',
  toolsets: [{ name: 'bench', tools: [tool], failures: { as: 'result' } }],
  readOnly: false,
  disabledTools: [],
  inFlight: { runningMax: 64, waitingMax: 1000 },
  jobs: createCallJobs(),
  log: silentLogger,
});
const common = { features, revisions: everyRevision, limits: messageLimits };

if (process.argv[2] === 'http') {
  const service = await serveOverHttp({
    ...common,
    host: '127.0.0.1',
    port: 0,
    path: '/mcp',
    allowedHosts: [],
    allowedOrigins: [],
    tokens: {},
    sessions: { sessionsMax: 1000, idleMs: 1_800_000 },
    acceptsBareCalls: false,
    health: () => ({ status: 'ok' }),
  });
  process.stdout.write(`${service.url}\n`);
} else {
  const service = serveOverStdio({ ...common, input: process.stdin, output: process.stdout });
  await service.closed;
  process.exit(0);
}
