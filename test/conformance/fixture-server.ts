import type { JSONRPCRequest, Server, ServerContext } from '@modelcontextprotocol/server';
import { createLogger } from '../../src/base/log.ts';
import { createCallJobs } from '../../src/jobs/call-jobs.ts';
import { createTasks } from '../../src/jobs/tasks.ts';
import type { HttpService } from '../../src/mcp/http/service.ts';
import { messageLimits } from '../../src/mcp/messages/messages.ts';
import type { IncomingRequest } from '../../src/mcp/methods/incoming-call.ts';
import { createMethods, type Methods } from '../../src/mcp/methods/methods.ts';
import { everyRevision } from '../../src/mcp/protocol-versions.ts';
import { loadModernProtocol, serveOverHttp } from '../../src/mcp/serve.ts';
import { createServerFeatures } from '../../src/mcp/server-features.ts';
import type { ModernProtocol } from '../../src/mcp/sessions/modern-answers.ts';
import { binaryResource, extraMethods, extraPrompts, extraTools } from './fixture-extras.ts';
import type { Fields, FixtureContext } from './fixture-model.ts';
import { taskToolsets } from './fixture-tasks.ts';
import { fixtureToolset } from './fixture-toolset.ts';

/** The product's HTTP service and funnel with the tools, resources and prompts that the conformance suite requires. */
export function startFixtureServer(tasksFolder: string): Promise<HttpService> {
  const log = createLogger([]);
  const features = createServerFeatures({
    serverInfo: { name: 'carrel-conformance', version: '1.0.0' },
    instructions: 'Fixtures for the conformance suite.',
    toolsets: [fixtureToolset, ...taskToolsets],
    readOnly: false,
    disabledTools: [],
    inFlight: { runningMax: 16, waitingMax: 16 },
    jobs: createCallJobs(),
    tasks: createTasks({ folder: tasksFolder, log }),
    log,
  });
  return serveOverHttp({
    features,
    revisions: everyRevision,
    limits: messageLimits,
    host: 'localhost',
    port: 0,
    path: '/mcp',
    allowedHosts: [],
    allowedOrigins: [],
    tokens: {},
    sessions: { sessionsMax: 100, idleMs: 60_000 },
    acceptsBareCalls: false,
    health: () => ({ status: 'ok' }),
    createMethods: createFixtureMethods,
    modern: loadFixtureModern,
  });
}

function owns(method: string, params: Fields | undefined): boolean {
  if (method === 'tools/call') return String(params?.['name']) in extraTools;
  if (method === 'prompts/get') return String(params?.['name']) in extraPrompts;
  if (method === 'resources/read') return params?.['uri'] === 'test://static-binary';
  return method in fixtures;
}

/** Puts the fixtures before the product's own methods, in the revisions with a handshake. */
function createFixtureMethods(...given: Parameters<typeof createMethods>): Methods {
  const own = createMethods(...given);
  const { resources } = own.capabilities as { resources?: object };
  return {
    ...own,
    capabilities: { ...own.capabilities, logging: {}, resources: { ...resources, subscribe: true } },
    async answer(name, params, request) {
      const extra = extraMethods[name];
      if (extra) return extra();
      const answerOwn = () => own.answer(name, params, request);
      return (await fixtures[name]?.({ ...params }, contextOf(request), answerOwn)) ?? answerOwn();
    },
  };
}

function contextOf({ signal, notify, send, hangUp }: IncomingRequest): FixtureContext {
  return {
    mcpReq: {
      signal,
      requestState: () => undefined,
      notify: async ({ method, params }) => notify(method, params),
      send: async ({ method, params }) => (await send(method, params, 60_000)) as Fields,
      log: async (level, data) => notify('notifications/message', { level, data }),
    },
    http: { closeSSE: hangUp },
  };
}

/** The same for 2026-07-28, where the SDK's server has handlers by method. */
async function loadFixtureModern(...given: Parameters<typeof loadModernProtocol>): Promise<ModernProtocol> {
  const own = await loadModernProtocol(...given);
  return {
    answersFor(caller) {
      const { read, answer } = own.answersFor(caller);
      return { answer, read: (incoming) => (owns(incoming.method, incoming.params) ? undefined : read(incoming)) };
    },
    serverFor(caller) {
      const server = own.serverFor(caller);
      install(server);
      return server;
    },
  };
}

type Handler = (request: JSONRPCRequest, context: ServerContext) => Promise<Fields>;

function install(server: Server): void {
  server.registerCapabilities({ logging: {} });
  // The fixtures must precede the product's handlers, and the SDK has no public access to registered ones.
  const registered = Reflect.get(server, '_requestHandlers') as Map<string, Handler>;
  for (const [method, fixture] of Object.entries(fixtures)) {
    const own = registered.get(method);
    if (own === undefined) throw new Error(`The product serves no ${method} in this era.`);
    const params = { '~standard': { version: 1 as const, vendor: 'test', validate: (value: unknown) => ({ value }) } };
    server.setRequestHandler(method, { params }, async (given, context) => {
      const request: JSONRPCRequest = { jsonrpc: '2.0', id: context.mcpReq.id, method, params: given as Fields };
      const answerOwn = () => own(request, context);
      const answer = await fixture({ ...request.params }, context as unknown as FixtureContext, answerOwn);
      return answer ?? answerOwn();
    });
  }
}

type Fixture = (params: Fields, context: FixtureContext, own: () => Promise<Fields>) => Promise<Fields> | undefined;

const fixtures: Readonly<Record<string, Fixture>> = {
  'tools/list': async (_params, _context, own) => {
    const { tools, ...rest } = await own();
    const extra = Object.entries(extraTools).map(([name, { description, inputSchema }]) => ({
      name,
      description,
      inputSchema,
    }));
    return { ...rest, tools: [...(tools as object[]), ...extra] };
  },
  'tools/call': (params, context) => extraTools[String(params['name'])]?.run(params, context),
  'resources/read': ({ uri }) => (uri === 'test://static-binary' ? Promise.resolve(binaryResource) : undefined),
  'prompts/list': async (_params, _context, own) => {
    const { prompts, ...rest } = await own();
    const extra = Object.entries(extraPrompts).map(([name, prompt]) => ({
      name,
      description: `The ${name} of the conformance suite.`,
      arguments: prompt.arguments,
    }));
    return { ...rest, prompts: [...(prompts as object[]), ...extra] };
  },
  'prompts/get': (params, context) => extraPrompts[String(params['name'])]?.run(params, context),
};
