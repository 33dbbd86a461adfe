import { CarrelError } from '../base/errors.ts';
import { isObject } from '../base/json.ts';
import type { Logger } from '../base/log.ts';
import type { TaskOutcome, Tasks, TaskView } from '../jobs/task.ts';
import type { Operation } from '../telemetry/recorder.ts';
import { checkAnswer, envelopeBytes } from '../tools/answer-limit.ts';
import type { Call, Caller, ClientName, Progress } from '../tools/call.ts';
import { type AskingRequest, askBetweenCalls, askWithinCall, canAsk, InputRequired } from './asking.ts';
import { ToolFailure } from './call-tool.ts';
import type { IncomingCall, TaskDesk } from './incoming-call.ts';
import { beginOperation, errorTypeOf, otherMethod } from './observe.ts';
import type { Offer } from './offer.ts';
import { type Era, knowsResourceLinks } from './protocol-versions.ts';
import { createLinksTo, type LinksTo } from './resource-links.ts';
import { StartedTask } from './task-calls.ts';
import { createTaskMethods, takesTasks } from './task-methods.ts';
import type { Watch } from './watches.ts';
import { describeFailure, missingTasks, ownError, RpcError, tasksExtension, toProtocolError } from './wire-errors.ts';

/** A request as its method needs it, whoever has read it from the wire. */
export interface IncomingRequest extends AskingRequest {
  readonly id: string | number;
  readonly meta: Params | undefined;
  readonly client: ClientName;
  /** What the client declares that it can do. */
  readonly capabilities: unknown;
  /** Says something to the client while the request runs. */
  notify(method: string, params: Params): void;
}

export interface AnswersOptions {
  era: Era;
  caller: Caller;
  keepCancellable(id: string | number, cancel: () => void): () => void;
  /** What this client wants to be told of; absent where it asks for that in another way. */
  watch?(): Watch;
  /** What is known of a request beside its content, for the recorder. */
  about(id: string | number): Pick<Operation, 'transport' | 'revision' | 'sessionId' | 'requestId'>;
}

/** The answers to all requests of one client. */
export interface RequestAnswers {
  readonly methods: readonly string[];
  /** Throws an RpcError for whatever fails. */
  answer(method: string, params: Params | undefined, request: IncomingRequest): Promise<Params>;
}

export function createRequestAnswers(offer: Offer, options: AnswersOptions): RequestAnswers {
  const { recorder } = offer;
  const answer: RequestAnswers['answer'] = async (name, params, request) => {
    const method = methods[name];
    if (method === undefined || !isOffered(name, offer, options.era)) throw methodNotFound();
    const waiting = offer.turns.next();
    if (waiting) await waiting;
    const given = { ...params };
    const call = createCall(offer, options, request, given);
    try {
      return (await method(offer, given, call)) as Params;
    } catch (thrown) {
      if (thrown instanceof InputRequired) return { ...thrown.result };
      throw toProtocolErrorOf(thrown, options.era, call.log);
    }
  };
  const answerRecorded: RequestAnswers['answer'] = async (name, params, request) => {
    if (recorder === undefined) return answer(name, params, request);
    const method = name in methods ? name : otherMethod;
    const facts = { ...options.about(request.id), method, params: { ...params }, meta: request.meta };
    const end = beginOperation(recorder, offer.catalogue, facts);
    try {
      const result = await answer(name, params, request);
      end(result['isError'] === true ? 'tool_error' : undefined);
      return result;
    } catch (thrown) {
      end(errorTypeOf(thrown, request.signal));
      throw thrown;
    }
  };
  return {
    get methods() {
      return Object.keys(methods).filter((name) => isOffered(name, offer, options.era));
    },
    answer: recorder ? answerRecorded : answer,
  };
}

function toProtocolErrorOf(thrown: unknown, era: Era, log: Logger): RpcError {
  if (thrown instanceof RpcError) return thrown;
  if (thrown instanceof ToolFailure) return toProtocolError(thrown.error, era, thrown.toolset?.failures);
  return toProtocolError(ownError(thrown, log), era);
}

export type Params = Record<string, unknown>;
type Method = (offer: Offer, params: Params, call: ModernCall) => unknown;

/** From 2026-07-28 on, a request may carry the client's answers to questions. */
interface ModernCall extends IncomingCall {
  inputResponses?: Params | undefined;
  isModern?: boolean;
  /** What this client wants to be told of. */
  watch?(): Watch;
  /** Absent if the client gets no links. */
  linksTo?: LinksTo;
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

export function capabilitiesOf(offer: Offer, era: Era) {
  const { resources, prompts, experimental } = offer;
  return {
    tools: {},
    ...(resources.any ? { resources: resources.watchable ? { subscribe: true, listChanged: true } : {} } : {}),
    ...(prompts.any ? { prompts: {} } : {}),
    ...(completes(offer) ? { completions: {} } : {}),
    ...(experimental ? { experimental } : {}),
    ...(offersTasks(offer, era) ? { extensions: { [tasksExtension]: {} } } : {}),
  };
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

async function callTool(offer: Offer, params: Params, call: ModernCall): Promise<object> {
  const { name, arguments: given } = params;
  if (typeof name !== 'string') throw new CarrelError('invalid_arguments', 'name must be a string: the tool to call.');
  try {
    const data = await offer.callTool(name, given, call);
    return data instanceof StartedTask
      ? { ...data.view, resultType: 'task' }
      : toolResult(offer, name, data, call.linksTo);
  } catch (thrown) {
    return failedResult(thrown);
  }
}

function toolResult({ catalogue }: Offer, name: string, data: object, linksTo: LinksTo | undefined): object {
  const tool = catalogue.find(name)?.tool;
  const texts = shownParts(data, tool?.listed).map((part) => ({ type: 'text', text: JSON.stringify(part) }));
  const content = tool && linksTo ? [...texts, ...linksTo(tool, data)] : texts;
  return { content, structuredContent: data };
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
  const { render } = createTaskDesk(offer, offer.tasks, call.caller, 'modern', undefined);
  return createTaskMethods(offer.tasks, offer.catalogue, render).get(taskId, call);
}

function taskMethods(offer: Offer, call: ModernCall) {
  if (offer.tasks === undefined) throw methodNotFound();
  if (call.tasks === undefined) throw missingTasks();
  return createTaskMethods(offer.tasks, offer.catalogue, call.tasks.render);
}

function createTaskDesk(
  offer: Offer,
  tasks: Tasks,
  { owner }: Caller,
  era: Era,
  linksTo: LinksTo | undefined,
): TaskDesk {
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
      'failure' in outcome ? failed(outcome.failure) : completed(toolResult(offer, tool, outcome.result, linksTo)),
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

/** What a client says it is, cut to what is worth repeating. */
export function clientName(given: unknown): ClientName {
  const { name, version } = isObject(given) ? given : {};
  const short = (text: unknown) => (typeof text === 'string' ? text.slice(0, clientNameUnitsMax) : '');
  return { name: short(name) || 'unknown', version: short(version) };
}

function createCall(
  offer: Offer,
  { caller, era, keepCancellable, watch, about }: AnswersOptions,
  request: IncomingRequest,
  params: Params,
): ModernCall {
  const token = request.meta?.['progressToken'];
  let reached = Number.NEGATIVE_INFINITY;
  const call: ModernCall = {
    caller,
    client: request.client,
    signal: request.signal,
    log: offer.log.with({ request: String(request.id), caller: caller.name }),
    report(progress: Progress) {
      if (token === undefined || progress.progress <= reached) return;
      reached = progress.progress;
      request.notify('notifications/progress', { progressToken: token, ...progress });
    },
    keepCancellable: (cancel) => keepCancellable(request.id, cancel),
  };
  if (watch) call.watch = watch;
  if (offer.linksResources && knowsResourceLinks(about(request.id).revision ?? '')) {
    call.linksTo = createLinksTo(offer, params['arguments']);
  }
  if (era === 'modern') {
    call.isModern = true;
    call.inputResponses = request.inputResponses;
    if (canAsk(request.capabilities)) call.ask = askBetweenCalls(request, caller.owner, params);
    if (offer.tasks && takesTasks(request.capabilities)) {
      call.tasks = createTaskDesk(offer, offer.tasks, caller, era, call.linksTo);
    }
  } else if (canAsk(request.capabilities)) call.ask = askWithinCall(request, offer.answerMs);
  return call;
}

function methodNotFound(): Error {
  return new RpcError(-32_601, 'Method not found');
}
