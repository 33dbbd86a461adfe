import type { JSONRPCRequest, Server, ServerContext } from '@modelcontextprotocol/server';
import { createLogger } from '../../src/base/log.ts';
import { createCallJobs } from '../../src/jobs/call-jobs.ts';
import { createTasks } from '../../src/jobs/tasks.ts';
import type { HttpService } from '../../src/mcp/http/service.ts';
import { messageLimits } from '../../src/mcp/messages.ts';
import { createOffer } from '../../src/mcp/offer.ts';
import { everyRevision } from '../../src/mcp/protocol-versions.ts';
import { serveOverHttp } from '../../src/mcp/serve.ts';
import { binaryResource, extraMethods, extraPrompts, extraTools } from './fixture-extras.ts';
import type { Fields } from './fixture-model.ts';
import { taskToolsets } from './fixture-tasks.ts';
import { fixtureToolset } from './fixture-toolset.ts';

/** The product's HTTP service and funnel with the tools, resources and prompts that the conformance suite asks for. */
export function startFixtureServer(tasksFolder: string): Promise<HttpService> {
  const log = createLogger([]);
  const offer = createOffer({
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
    offer,
    revisions: everyRevision,
    limits: messageLimits,
    host: 'localhost',
    port: 0,
    path: '/mcp',
    allowedHosts: [],
    allowedOrigins: [],
    tokens: {},
    sessions: { sessionsMax: 100, idleMs: 60_000 },
    bareCalls: false,
    health: () => ({ status: 'ok' }),
    extension: { install, owns },
  });
}

type Handler = (request: JSONRPCRequest, context: ServerContext) => Promise<Fields>;

function owns(method: string, params: Fields | undefined): boolean {
  if (method === 'tools/call') return String(params?.['name']) in extraTools;
  if (method === 'prompts/get') return String(params?.['name']) in extraPrompts;
  if (method === 'resources/read') return params?.['uri'] === 'test://static-binary';
  return method === 'initialize' || method in fixtures || method in extraMethods;
}

/** Puts the fixtures in front of the product's own handlers; what they do not know goes on to those. */
function install(server: Server): void {
  const own = server.fallbackRequestHandler as Handler | undefined;
  if (own) {
    server.registerCapabilities({ logging: {}, resources: { subscribe: true } });
    server.fallbackRequestHandler = (request, context) => {
      const extra = extraMethods[request.method];
      return extra ? Promise.resolve(extra()) : withFixtures(own)(request, context);
    };
    return;
  }
  server.registerCapabilities({ logging: {} });
  // The SDK has no public way to the handler that is registered; the fixtures must stand in front of the product's own.
  const registered = Reflect.get(server, '_requestHandlers') as Map<string, Handler>;
  for (const method of Object.keys(fixtures)) {
    const ownHandler = registered.get(method);
    if (ownHandler === undefined) throw new Error(`The product serves no ${method} in this era.`);
    const handler = withFixtures(ownHandler);
    const params = { '~standard': { version: 1 as const, vendor: 'test', validate: (value: unknown) => ({ value }) } };
    server.setRequestHandler(method, { params }, (given, context) =>
      handler({ jsonrpc: '2.0', id: context.mcpReq.id, method, params: given as Fields }, context),
    );
  }
}

function withFixtures(own: Handler): Handler {
  return async (request, context) => {
    const fixture = await fixtures[request.method]?.({ ...request.params }, context, () => own(request, context));
    return fixture ?? own(request, context);
  };
}

type Fixture = (params: Fields, context: ServerContext, own: () => Promise<Fields>) => Promise<Fields> | undefined;

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
