import {
  CLIENT_CAPABILITIES_META_KEY,
  type Notification,
  ProtocolError,
  Server,
  type ServerContext,
  type StandardSchemaV1,
} from '@modelcontextprotocol/server';
import { CarrelError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { Rights } from '../base/rights.ts';
import type { CallJobs } from '../jobs/call-jobs.ts';
import type { TaskOutcome, Tasks, TaskView } from '../jobs/task.ts';
import type { Operation, Recorder } from '../telemetry/recorder.ts';
import { checkAnswer, envelopeBytes } from '../tools/answer-limit.ts';
import type { Call, Caller, ClientName, Progress } from '../tools/call.ts';
import type { Catalogue } from '../tools/catalogue.ts';
import type { Announcement } from '../tools/toolset.ts';
import { askBetweenCalls, askWithinCall, canAsk, InputRequired } from './asking.ts';
import { type CallTool, ToolFailure } from './call-tool.ts';
import type { IncomingCall, TaskDesk } from './incoming-call.ts';
import { beginOperation, errorTypeOf, otherMethod } from './observe.ts';
import type { Prompts } from './prompts.ts';
import type { Era } from './protocol-versions.ts';
import type { Resources } from './resources.ts';
import { StartedTask } from './task-calls.ts';
import { createTaskMethods, takesTasks } from './task-methods.ts';
import type { Watch, Watches } from './watches.ts';
import { describeFailure, missingTasks, ownError, tasksExtension, toProtocolError } from './wire-errors.ts';

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
  /** Absent where calls do not become tasks. */
  tasks?: Tasks;
  /** The longest answer, in bytes. */
  answerBytesMax: number;
  /** Told of each client that has connected; what it returns, when that one has gone. */
  onClient?: (client: ClientName, caller: Caller) => () => void;
  /** Calls the listener after every call that may have changed something. */
  onWrite(listener: () => void): void;
  log: Logger;
  /** What a caller with these rights is offered; the rest is as unknown to it as if it did not exist. */
  within(rights: Rights): Offer;
  recorder: Recorder | undefined;
}

export interface ServerOptions {
  era: Era;
  caller: Caller;
  revisions: readonly string[];
  keepCancellable(innerId: string | number, cancel: () => void): () => void;
  watches: Watches;
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
      ...(resources.any ? { resources: resources.watchable ? { subscribe: true, listChanged: true } : {} } : {}),
      ...(prompts.any ? { prompts: {} } : {}),
      ...(completes(offer) ? { completions: {} } : {}),
      ...(experimental ? { experimental } : {}),
      ...(offersTasks(offer, options.era) ? { extensions: { [tasksExtension]: {} } } : {}),
    },
  });
  server.onerror = (error) => offer.log.debug('protocol', { error });
  server.oninitialized = () => {
    gone = offer.onClient?.(clientOf(server), options.caller);
  };
  let gone: (() => void) | undefined;
  let watch: Watch | undefined;
  const openWatch = (): Watch => {
    watch ??= options.watches.open(options.caller, (method, params) => {
      void server.notification({ method, ...(params ? { params } : {}) } as Notification).catch(() => {});
    });
    return watch;
  };
  server.onclose = () => {
    gone?.();
    watch?.close();
  };
  const answer = async (name: string, params: Params | undefined, context: ServerContext): Promise<Params> => {
    const method = methods[name];
    if (method === undefined || !isOffered(name, offer, options.era)) throw methodNotFound();
    const given = { ...params };
    const call = createCall(offer, options, server, context, given);
    call.watch = openWatch;
    try {
      return (await method(offer, given, call)) as Params;
    } catch (thrown) {
      if (thrown instanceof InputRequired) return { ...thrown.result };
      throw toProtocolErrorOf(thrown, options.era, call.log);
    }
  };
  const handle: typeof answer = async (name, params, context) => {
    if (offer.recorder === undefined) return answer(name, params, context);
    const { id, _meta: meta, signal } = context.mcpReq;
    const method = name in methods ? name : otherMethod;
    const facts = { ...options.about(id), method, params: { ...params }, meta };
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
    for (const name of methodsOffered(offer, options.era)) {
      server.setRequestHandler(name, { params: anyParams }, (params, context) => handle(name, params, context));
    }
  }
  return server;
}

function toProtocolErrorOf(thrown: unknown, era: Era, log: Logger): ProtocolError {
  if (thrown instanceof ProtocolError) return thrown;
  if (thrown instanceof ToolFailure) return toProtocolError(thrown.error, era, thrown.toolset?.failures);
  return toProtocolError(ownError(thrown, log), era);
}

type Params = Record<string, unknown>;
type Method = (offer: Offer, params: Params, call: ModernCall) => unknown;

/** From 2026-07-28 on, a request may carry the client's answers to questions. */
interface ModernCall extends IncomingCall {
  inputResponses?: Params | undefined;
  isModern?: boolean;
  /** What this client wants to be told of. */
  watch?(): Watch;
}

/** Accepts anything: each method reads its own parameters and reports what is wrong with them. */
const anyParams: StandardSchemaV1<Params> = {
  '~standard': { version: 1, vendor: 'carrel', validate: (value) => ({ value: value as Params }) },
};

function methodsOffered(offer: Offer, era: Era): string[] {
  return Object.keys(methods).filter((name) => isOffered(name, offer, era));
}

function isOffered(name: string, offer: Offer, era: Era): boolean {
  if (name.startsWith('tasks/')) return offersTasks(offer, era);
  // Later revisions have subscriptions/listen for that.
  if (name.endsWith('subscribe')) return offer.resources.watchable && era === 'handshake';
  if (name.startsWith('resources/')) return offer.resources.any;
  if (name.startsWith('completion/')) return completes(offer);
  return name.startsWith('prompts/') ? offer.prompts.any : true;
}

/** The extension belongs to the revisions without sessions; older clients have the handles of jobs. */
function offersTasks({ tasks }: Offer, era: Era): boolean {
  return tasks !== undefined && era === 'modern';
}

/** Variables of resources and arguments of prompts can be completed. */
function completes({ resources, prompts }: Offer): boolean {
  return resources.any || prompts.any;
}

const methods: Record<string, Method> = Object.assign(Object.create(null), {
  'tools/list': ({ catalogue }) => ({ tools: catalogue.listings }),
  'tools/call': callTool,
  'resources/list': ({ resources }, params, call) => {
    // Whoever has read the list is told when it changes.
    if (resources.watchable && !call.isModern) void call.watch?.().wantList();
    return resources.list(params['cursor'], call);
  },
  'resources/subscribe': async (_offer, { uri }, call) => {
    if (typeof uri !== 'string') throw new CarrelError('invalid_arguments', 'uri must be a string.');
    if (await call.watch?.().wantResource(uri)) return {};
    throw new CarrelError(
      'resource_not_found',
      'No resource that can be watched has this URI, or too many are watched.',
      {
        data: { uri },
      },
    );
  },
  'resources/unsubscribe': (_offer, { uri }, call) => {
    call.watch?.().dropResource(String(uri));
    return {};
  },
  'resources/templates/list': ({ resources }) => ({ resourceTemplates: resources.templates }),
  'resources/read': ({ resources }, params, call) => resources.read(params, call),
  'prompts/list': ({ prompts }) => ({ prompts: prompts.list() }),
  'prompts/get': ({ prompts, answerBytesMax }, params) =>
    checkAnswer(prompts.get(params), answerBytesMax - envelopeBytes, { copies: 1 }),
  'completion/complete': complete,
  'tasks/get': (offer, { taskId }, call) => taskMethods(offer, call).get(taskId, call),
  'tasks/update': (offer, { taskId }, call) => taskMethods(offer, call).update(taskId, call.inputResponses, call),
  'tasks/cancel': (offer, { taskId }, call) => taskMethods(offer, call).cancel(taskId, call),
} satisfies Record<string, Method>);

async function callTool(offer: Offer, params: Params, call: IncomingCall): Promise<object> {
  const { name, arguments: given } = params;
  if (typeof name !== 'string') throw new CarrelError('invalid_arguments', 'name must be a string: the tool to call.');
  try {
    const data = await offer.callTool(name, given, call);
    return data instanceof StartedTask ? { ...data.view, resultType: 'task' } : toolResult(offer, name, data);
  } catch (thrown) {
    return failedResult(thrown);
  }
}

function toolResult({ catalogue }: Offer, name: string, data: object): object {
  const texts = shownParts(data, catalogue.find(name)?.tool.listed);
  return { content: texts.map((part) => ({ type: 'text', text: JSON.stringify(part) })), structuredContent: data };
}

/** The result of a failed call, where its toolset makes one of it. */
function failedResult(thrown: unknown): object {
  if (!(thrown instanceof ToolFailure) || thrown.toolset?.failures.as !== 'result') throw thrown;
  const { message, data } = describeFailure(thrown.error);
  return {
    content: [{ type: 'text', text: message }],
    structuredContent: { error: { ...data, message } },
    isError: true,
  };
}

/** A task as its owner sees it, whoever asks: a request, or a stream that tells of changes. */
export async function lookAtTask(offer: Offer, taskId: string, call: Call): Promise<TaskView> {
  if (offer.tasks === undefined) throw methodNotFound();
  const { render } = createTaskDesk(offer, offer.tasks, call.caller, 'modern');
  return createTaskMethods(offer.tasks, offer.catalogue, render).get(taskId, call);
}

function taskMethods(offer: Offer, call: ModernCall) {
  if (offer.tasks === undefined) throw methodNotFound();
  if (call.tasks === undefined) throw missingTasks();
  return createTaskMethods(offer.tasks, offer.catalogue, call.tasks.render);
}

function createTaskDesk(offer: Offer, tasks: Tasks, { owner }: Caller, era: Era): TaskDesk {
  // The result is a whole one, as the call itself would have had it.
  const completed = (result: object): TaskOutcome => ({
    status: 'completed',
    result: { ...result, resultType: 'complete' },
  });
  const failed = (failure: unknown): TaskOutcome => {
    try {
      return completed(failedResult(failure));
    } catch (thrown) {
      const { code, message, data } = toProtocolErrorOf(thrown, era, offer.log);
      return { status: 'failed', error: { code, message, data } };
    }
  };
  return {
    start: (tool, cancel, work) => tasks.start({ owner, tool, cancel, work }),
    render: (tool, outcome) =>
      'failure' in outcome ? failed(outcome.failure) : completed(toolResult(offer, tool, outcome.result)),
  };
}

/** What goes out as texts, each as JSON. */
function shownParts(data: object, listed: string | undefined): unknown[] {
  if (listed === undefined || !Object.hasOwn(data, listed)) return [data];
  const { [listed]: list, ...rest } = data as Record<string, unknown>;
  return Object.keys(rest).length === 0 ? [list] : [list, rest];
}

async function complete(offer: Offer, params: Params, call: IncomingCall): Promise<object> {
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

function createCall(
  offer: Offer,
  { caller, era, keepCancellable }: ServerOptions,
  server: Server,
  context: ServerContext,
  params: Params,
): ModernCall {
  const { mcpReq } = context;
  const token = mcpReq._meta?.progressToken;
  let reached = Number.NEGATIVE_INFINITY;
  return {
    caller,
    client: clientOf(server),
    signal: mcpReq.signal,
    log: offer.log.with({ request: String(mcpReq.id), caller: caller.name }),
    report(progress: Progress) {
      if (token === undefined || progress.progress <= reached) return;
      reached = progress.progress;
      const reported = { progressToken: token, ...progress };
      void mcpReq.notify({ method: 'notifications/progress', params: reported }).catch(() => {});
    },
    keepCancellable: (cancel) => keepCancellable(mcpReq.id, cancel),
    ...(era === 'modern' ? modernParts(offer, caller, context, params) : handshakeParts(server, context)),
  };
}

function handshakeParts(server: Server, context: ServerContext): Partial<ModernCall> {
  return canAsk(server.getClientCapabilities()) ? { ask: askWithinCall(context) } : {};
}

function modernParts(offer: Offer, caller: Caller, context: ServerContext, params: Params): Partial<ModernCall> {
  const { envelope, inputResponses } = context.mcpReq;
  const capabilities = (envelope as Params | undefined)?.[CLIENT_CAPABILITIES_META_KEY];
  return {
    inputResponses,
    isModern: true,
    ...(canAsk(capabilities) ? { ask: askBetweenCalls(context, caller.owner, params) } : {}),
    ...(offer.tasks && takesTasks(capabilities) ? { tasks: createTaskDesk(offer, offer.tasks, caller, 'modern') } : {}),
  };
}

function methodNotFound(): Error {
  return new ProtocolError(-32_601, 'Method not found');
}
