import { ProtocolError, Server, type ServerContext, type StandardSchemaV1 } from '@modelcontextprotocol/server';
import { CarrelError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { CallJobs } from '../jobs/call-jobs.ts';
import type { Operation, Recorder } from '../telemetry/recorder.ts';
import { checkAnswer, envelopeBytes } from '../tools/answer-limit.ts';
import type { Caller, ClientName, Progress } from '../tools/call.ts';
import type { Catalogue } from '../tools/catalogue.ts';
import type { Announcement } from '../tools/toolset.ts';
import { type CallTool, ToolFailure } from './call-tool.ts';
import { beginOperation, errorTypeOf } from './observe.ts';
import type { Prompts } from './prompts.ts';
import type { Era } from './protocol-versions.ts';
import type { Resources } from './resources.ts';
import type { IncomingCall } from './slow-calls.ts';
import { describeFailure, ownError, toProtocolError } from './wire-errors.ts';

/** What a role offers, made once and shared by all its connections. It holds no client's state. */
export interface Offer {
  /** Goes out as `serverInfo`; may carry fields of the role's own. */
  serverInfo: { name: string; title?: string; version: string };
  instructions: string;
  experimental?: Announcement;
  catalogue: Catalogue;
  callTool: CallTool;
  resources: Resources;
  prompts: Prompts;
  jobs: CallJobs;
  /** The longest answer, in bytes. */
  answerBytesMax: number;
  /** Told of each client that has connected; what it returns, when that one has gone. */
  onClient?: (client: ClientName, caller: Caller) => () => void;
  log: Logger;
  recorder: Recorder | undefined;
}

export interface ServerOptions {
  era: Era;
  caller: Caller;
  revisions: readonly string[];
  keepCancellable(innerId: string | number, cancel: () => void): () => void;
  /** What is known of a request beside its content, for the recorder. */
  about(innerId: string | number): Pick<Operation, 'transport' | 'revision' | 'sessionId' | 'requestId'>;
}

/**
 * An SDK server for one session or one request; never shared between clients, so no answer can reach the wrong one.
 *
 * All methods come in through the SDK's fallback handler. Handlers that are registered by method would have every
 * argument and result checked again with schemas that know less than our own.
 */
export function createProtocolServer(offer: Offer, options: ServerOptions): Server {
  const { serverInfo, instructions, resources, prompts, experimental } = offer;
  const server = new Server(serverInfo, {
    instructions,
    supportedProtocolVersions: [...options.revisions],
    capabilities: {
      tools: {},
      ...(resources.any ? { resources: {} } : {}),
      ...(prompts.any ? { prompts: {} } : {}),
      ...(completes(offer) ? { completions: {} } : {}),
      ...(experimental ? { experimental } : {}),
    },
  });
  server.onerror = (error) => offer.log.debug('protocol', { error });
  server.oninitialized = () => {
    const gone = offer.onClient?.(clientOf(server), options.caller);
    if (gone) server.onclose = gone;
  };
  const answer = async (name: string, params: Params | undefined, context: ServerContext): Promise<Params> => {
    const method = methods[name];
    if (method === undefined) throw methodNotFound();
    const call = { ...createCall(offer, options, context), client: clientOf(server) };
    try {
      return (await method(offer, { ...params }, call)) as Params;
    } catch (thrown) {
      if (thrown instanceof ToolFailure) throw toProtocolError(thrown.error, options.era, thrown.toolset?.failures);
      if (thrown instanceof ProtocolError) throw thrown;
      throw toProtocolError(ownError(thrown, call.log), options.era);
    }
  };
  const handle: typeof answer = async (name, params, context) => {
    if (offer.recorder === undefined) return answer(name, params, context);
    const { id, _meta: meta, signal } = context.mcpReq;
    const facts = { ...options.about(id), method: name, params: { ...params }, meta };
    const end = beginOperation(offer.recorder, offer.catalogue, facts);
    try {
      const result = await answer(name, params, context);
      end(result['isError'] === true ? 'tool_error' : undefined);
      return result;
    } catch (thrown) {
      end(errorTypeOf(thrown, signal));
      throw thrown;
    }
  };
  if (options.era === 'handshake') {
    server.fallbackRequestHandler = ({ method, params }, context) => handle(method, params, context);
  } else {
    // Here the SDK must know the methods: it answers an unknown one with HTTP 404 before any handler runs.
    for (const name of methodsOffered(offer)) {
      server.setRequestHandler(name, { params: anyParams }, (params, context) => handle(name, params, context));
    }
  }
  return server;
}

type Params = Record<string, unknown>;
type Method = (offer: Offer, params: Params, call: IncomingCall) => unknown;

/** Accepts anything: each method reads its own parameters and reports what is wrong with them. */
const anyParams: StandardSchemaV1<Params> = {
  '~standard': { version: 1, vendor: 'carrel', validate: (value) => ({ value: value as Params }) },
};

function methodsOffered(offer: Offer): string[] {
  return Object.keys(methods).filter((name) => {
    if (name.startsWith('resources/')) return offer.resources.any;
    if (name.startsWith('completion/')) return completes(offer);
    return name.startsWith('prompts/') ? offer.prompts.any : true;
  });
}

/** Variables of resources and arguments of prompts can be completed. */
function completes({ resources, prompts }: Offer): boolean {
  return resources.any || prompts.any;
}

const methods: Record<string, Method> = Object.assign(Object.create(null), {
  'tools/list': ({ catalogue }) => ({ tools: catalogue.listings }),
  'tools/call': callTool,
  'resources/list': ({ resources }, params, call) => {
    if (!resources.any) throw methodNotFound();
    return resources.list(params['cursor'], call);
  },
  'resources/templates/list': ({ resources }) => {
    if (!resources.any) throw methodNotFound();
    return { resourceTemplates: resources.templates };
  },
  'resources/read': ({ resources }, params, call) => {
    if (!resources.any) throw methodNotFound();
    return resources.read(params, call);
  },
  'prompts/list': ({ prompts }) => {
    if (!prompts.any) throw methodNotFound();
    return { prompts: prompts.list() };
  },
  'prompts/get': ({ prompts, answerBytesMax }, params) => {
    if (!prompts.any) throw methodNotFound();
    return checkAnswer(prompts.get(params), answerBytesMax - envelopeBytes, { copies: 1 });
  },
  'completion/complete': complete,
} satisfies Record<string, Method>);

async function callTool(offer: Offer, params: Params, call: IncomingCall): Promise<object> {
  const { name, arguments: given } = params;
  if (typeof name !== 'string') throw new CarrelError('invalid_arguments', 'name must be a string: the tool to call.');
  try {
    const data = await offer.callTool(name, given, call);
    const texts = shownParts(data, offer.catalogue.find(name)?.tool.listed);
    return { content: texts.map((part) => ({ type: 'text', text: JSON.stringify(part) })), structuredContent: data };
  } catch (thrown) {
    if (!(thrown instanceof ToolFailure) || thrown.toolset?.failures.as !== 'result') throw thrown;
    const { message, data } = describeFailure(thrown.error);
    return {
      content: [{ type: 'text', text: message }],
      structuredContent: { error: { ...data, message } },
      isError: true,
    };
  }
}

/** What goes out as texts, each as JSON. */
function shownParts(data: object, listed: string | undefined): unknown[] {
  if (listed === undefined || !Object.hasOwn(data, listed)) return [data];
  const { [listed]: list, ...rest } = data as Record<string, unknown>;
  return Object.keys(rest).length === 0 ? [list] : [list, rest];
}

async function complete(offer: Offer, params: Params, call: IncomingCall): Promise<object> {
  if (!completes(offer)) throw methodNotFound();
  const { ref, argument } = params as { ref?: Reference; argument?: Record<string, unknown> };
  const { name, value } = argument ?? {};
  if (typeof name !== 'string' || typeof value !== 'string') {
    throw new CarrelError('invalid_arguments', 'argument must be an object with name and value, both strings.');
  }
  const values = await completions(offer, ref, name, value, call);
  return { completion: { values: values.slice(0, completionsMax), hasMore: values.length > completionsMax } };
}

/** What is being filled in: a template's variable or a prompt's argument. */
interface Reference {
  type?: unknown;
  uri?: unknown;
  name?: unknown;
}

async function completions(
  { resources, prompts }: Offer,
  ref: Reference | undefined,
  argument: string,
  typed: string,
  call: IncomingCall,
): Promise<string[]> {
  if (ref?.type === 'ref/resource' && typeof ref.uri === 'string') {
    return resources.complete(ref.uri, argument, typed, call);
  }
  return ref?.type === 'ref/prompt' && typeof ref.name === 'string'
    ? prompts.complete(ref.name, argument, typed, call)
    : [];
}

/** The protocol's own bound. */
const completionsMax = 100;

const clientNameUnitsMax = 100;

function clientOf(server: Server): ClientName {
  const { name, version } = server.getClientVersion() ?? {};
  const short = (text: unknown) => (typeof text === 'string' ? text.slice(0, clientNameUnitsMax) : '');
  return { name: short(name) || 'unknown', version: short(version) };
}

function createCall(offer: Offer, options: ServerOptions, { mcpReq }: ServerContext): IncomingCall {
  const token = mcpReq._meta?.progressToken;
  let reached = Number.NEGATIVE_INFINITY;
  return {
    caller: options.caller,
    signal: mcpReq.signal,
    log: offer.log.with({ request: String(mcpReq.id) }),
    report(progress: Progress) {
      if (token === undefined || progress.progress <= reached) return;
      reached = progress.progress;
      const params = { progressToken: token, ...progress };
      void mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
    },
    keepCancellable: (cancel) => options.keepCancellable(mcpReq.id, cancel),
  };
}

function methodNotFound(): Error {
  return new ProtocolError(-32_601, 'Method not found');
}
