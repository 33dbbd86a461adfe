/**
 * A small server on the product's real transports, which tests run as a child process. Its tools log to stderr:
 * `started <marker>`, `aborted <marker>`, `finished <marker>`.
 *
 *   node test/support/echo-program.ts [--transport http] [--revisions every|fess|cody] [--token <token> [--other-token <token>]]
 *     [--bare] [--tasks <folder>] [--impatient]
 */
import { parseArgs } from 'node:util';
import { createLogger } from '../../src/base/log.ts';
import { Secret } from '../../src/base/secret.ts';
import { createCallJobs } from '../../src/jobs/call-jobs.ts';
import { createTasks } from '../../src/jobs/tasks.ts';
import { messageLimits } from '../../src/mcp/messages/messages.ts';
import { codyRevision, everyRevision, fessRevision } from '../../src/mcp/protocol-versions.ts';
import { serveOverHttp, serveOverStdio } from '../../src/mcp/serve.ts';
import { createServerFeatures } from '../../src/mcp/server-features.ts';
import { echoToolset, failingToolset, slowToolset } from './echo-toolsets.ts';

const { values } = parseArgs({
  options: {
    transport: { type: 'string', default: 'stdio' },
    revisions: { type: 'string', default: 'every' },
    token: { type: 'string' },
    'other-token': { type: 'string' },
    bare: { type: 'boolean', default: false },
    // Disconnects clients early if they read slowly.
    impatient: { type: 'boolean', default: false },
    tasks: { type: 'string' },
  },
});

const revisions = { every: everyRevision, fess: fessRevision, cody: codyRevision }[values.revisions] ?? everyRevision;

const log = createLogger([]);
const features = createServerFeatures({
  serverInfo: { name: 'echo', version: '1.0.0' },
  instructions: 'Echoes, for tests.',
  toolsets: [echoToolset, failingToolset, ...(values.tasks === undefined ? [] : [slowToolset])],
  readOnly: false,
  disabledTools: ['switched_off'],
  inFlight: { runningMax: 256, waitingMax: 1024 },
  // Some tests need answers that take long to send.
  answerBytesMax: 64 * 1024 * 1024,
  jobs: createCallJobs(),
  ...(values.tasks === undefined ? {} : { tasks: createTasks({ folder: values.tasks, log, perOwnerMax: 20 }) }),
  log,
});

if (values.transport === 'stdio') {
  const service = serveOverStdio({
    features,
    revisions,
    limits: messageLimits,
    input: process.stdin,
    output: process.stdout,
  });
  await service.closed;
  process.exit(0);
}

const service = await serveOverHttp({
  features,
  revisions,
  limits: messageLimits,
  host: '127.0.0.1',
  port: 0,
  path: '/mcp',
  allowedHosts: [],
  allowedOrigins: ['http://allowed.example'],
  tokens: Object.fromEntries(
    Object.entries({ default: values.token, other: values['other-token'] }).flatMap(([name, token]) =>
      token === undefined ? [] : [[name, new Secret(token)]],
    ),
  ),
  sessions: { sessionsMax: 1000, idleMs: 600_000 },
  ...(values.impatient
    ? { listenLimits: { headersTimeoutMs: 3_000, bodyTimeoutDefaultMs: 5_000, unreadMs: 3_000 } }
    : {}),
  acceptsBareCalls: values.bare,
  health: (detailed) => (detailed ? { status: 'ok', version: '1.0.0' } : { status: 'ok' }),
});
process.stderr.write(`carrel: listening on ${service.url}\n`);
process.once('SIGTERM', () => void service.close(500).then(() => process.exit(0)));
