import { checkAnswer, envelopeBytes } from '../../answers/answer-limit.ts';
import { asCaller } from '../../base/current-caller.ts';
import { CarrelError } from '../../base/errors.ts';
import { type ProtocolEra, tasksExtension } from '../protocol-versions.ts';
import type { ServerFeatures } from '../server-features.ts';
import { taskMethodsOf } from '../tasks/task-methods.ts';
import { methodNotFound, toRpcError } from '../wire-errors.ts';
import { createCall, type MethodsOptions } from './create-call.ts';
import { InputRequired } from './elicitation.ts';
import type { IncomingCall, IncomingRequest, Params } from './incoming-call.ts';
import { otherMethod, recordOperation } from './record-operation.ts';
import { answerToolCall } from './tool-result.ts';

/** The methods that one client can call. */
export interface Methods {
  readonly names: readonly string[];
  has(name: string): boolean;
  readonly capabilities: Params;
  /** Answers a request. Throws an `RpcError` on failure. */
  answer(name: string, params: Params | undefined, request: IncomingRequest): Promise<Params>;
}

export function createMethods(features: ServerFeatures, options: MethodsOptions): Methods {
  const { era } = options;
  const has = (name: string) => Object.hasOwn(methods, name) && isAvailable(name, features, era);
  const answer: Methods['answer'] = async (name, params, request) => {
    const method = methods[name];
    if (method === undefined || !has(name)) throw methodNotFound();
    const waiting = features.pacer.next(options.caller.id);
    if (waiting) await waiting;
    const fields = { ...params };
    const call = createCall(features, options, request, fields);
    try {
      return (await method(features, fields, call)) as Params;
    } catch (thrown) {
      if (thrown instanceof InputRequired) return { ...thrown.result };
      throw toRpcError(thrown, era, call.log);
    }
  };
  return {
    get names() {
      return Object.keys(methods).filter(has);
    },
    has,
    get capabilities() {
      return capabilitiesOf(features, era);
    },
    answer: (name, params, request) =>
      recordOperation(features, name in methods ? name : otherMethod, params, request, () =>
        asCaller(options.caller.id, () => answer(name, params, request)),
      ),
  };
}

type Method = (features: ServerFeatures, params: Params, call: IncomingCall) => unknown;

function isAvailable(name: string, features: ServerFeatures, era: ProtocolEra): boolean {
  if (name.startsWith('tasks/')) return hasTasks(features, era);
  // Later revisions use subscriptions/listen.
  if (name.endsWith('subscribe')) return features.resources.canWatch && era === 'handshake';
  if (name.startsWith('resources/')) return features.resources.hasAny;
  if (name.startsWith('completion/')) return canComplete(features);
  return name.startsWith('prompts/') ? features.prompts.hasAny : true;
}

/** True if tasks are available. They need a revision without sessions; older clients get job handles. */
function hasTasks({ tasks }: ServerFeatures, era: ProtocolEra): boolean {
  return tasks !== undefined && era === 'modern';
}

function capabilitiesOf(features: ServerFeatures, era: ProtocolEra): Params {
  const { resources, prompts, experimental } = features;
  const subscriptions = resources.canWatch ? { subscribe: true, listChanged: true } : {};
  return {
    tools: {},
    ...(resources.hasAny ? { resources: subscriptions } : {}),
    ...(prompts.hasAny ? { prompts: {} } : {}),
    ...(canComplete(features) ? { completions: {} } : {}),
    ...(experimental ? { experimental } : {}),
    ...(hasTasks(features, era) ? { extensions: { [tasksExtension]: {} } } : {}),
  };
}

/** True if there is something to complete: variables of resources or arguments of prompts. */
function canComplete({ resources, prompts }: ServerFeatures): boolean {
  return resources.hasAny || prompts.hasAny;
}

const methods: Record<string, Method> = Object.assign(Object.create(null), {
  'tools/list': ({ catalogue }) => ({ tools: catalogue.listings }),
  'tools/call': answerToolCall,
  'resources/list': ({ resources }, params, call) => {
    // Reading the list subscribes the client to its changes.
    if (resources.canWatch && call.era === 'handshake') void call.watch?.().watchList();
    return resources.list(params['cursor'], call);
  },
  'resources/subscribe': async (_features, { uri }, call) => {
    if (typeof uri !== 'string') throw new CarrelError('invalid_arguments', 'uri must be a string.');
    if (await call.watch?.().watchResource(uri)) return {};
    const message = "This resource can't be subscribed to, or there are too many subscriptions.";
    throw new CarrelError('resource_not_found', message, { data: { uri } });
  },
  'resources/unsubscribe': (_features, { uri }, call) => {
    call.watch?.().unwatchResource(String(uri));
    return {};
  },
  'resources/templates/list': ({ resources }) => ({ resourceTemplates: resources.templates }),
  'resources/read': ({ resources }, params, call) => resources.read(params, call),
  'prompts/list': ({ prompts }) => ({ prompts: prompts.list() }),
  'prompts/get': ({ prompts, answerBytesMax }, params) =>
    checkAnswer(prompts.get(params), answerBytesMax - envelopeBytes, { copies: 1 }),
  'completion/complete': complete,
  'tasks/get': (features, { taskId }, call) => taskMethodsOf(features, call).get(taskId, call),
  'tasks/update': (features, { taskId }, call) =>
    taskMethodsOf(features, call).update(taskId, call.inputResponses, call),
  'tasks/cancel': (features, { taskId }, call) => taskMethodsOf(features, call).cancel(taskId, call),
} satisfies Record<string, Method>);

/** Max completions in an answer, by the protocol. */
const completionsMax = 100;

/** The target of a completion: a template's variable or a prompt's argument. */
interface Reference {
  type?: unknown;
  uri?: unknown;
  name?: unknown;
}

/** Answers `completion/complete`. */
async function complete(features: ServerFeatures, params: Params, call: IncomingCall): Promise<object> {
  const { ref, argument } = params as { ref?: Reference; argument?: Params };
  const { name, value } = argument ?? {};
  if (typeof name !== 'string' || typeof value !== 'string') {
    throw new CarrelError('invalid_arguments', 'argument must be an object with name and value, both strings.');
  }
  const values = await completions(features, ref, name, value, call);
  return { completion: { values: values.slice(0, completionsMax), hasMore: values.length > completionsMax } };
}

async function completions(
  { resources, prompts }: ServerFeatures,
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
