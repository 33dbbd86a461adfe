import type { Readable, Writable } from 'node:stream';
import type { Logger } from '../base/log.ts';
import { type Caller, localUser } from '../tools/call.ts';
import type { HttpService, HttpServiceOptions } from './http/service.ts';
import type { MessageLimits } from './messages/messages.ts';
import type { createMethods } from './methods/methods.ts';
import type { SupportedRevisions } from './protocol-versions.ts';
import type { ServerFeatures } from './server-features.ts';
import { createConversation, type OpenConversation } from './sessions/conversation.ts';
import type { ModernProtocol } from './sessions/modern-answers.ts';
import { createSubscriptionStreams } from './sessions/subscription-streams.ts';
import { createWatches, type Watches } from './sessions/watches.ts';
import type { LineOutput } from './stdio/peer.ts';
import { type ClientLines, type StdioService, serveLines, serveStdio } from './stdio/stdio.ts';
import { findTask } from './tasks/task-methods.ts';

export interface ServeOptions {
  features: ServerFeatures;
  revisions: SupportedRevisions;
  limits: MessageLimits;
  /** Replaces the methods that answer requests, in tests. */
  createMethods?: typeof createMethods;
  modern?: (features: ServerFeatures, transport: Transport) => Promise<ModernProtocol>;
}

type Transport = 'pipe' | 'tcp';

export interface StdioServeOptions extends ServeOptions {
  input: Readable;
  output: Writable;
}

type ProvidedOptions = 'log' | 'recorder' | 'inputSchema' | 'bareCall' | keyof ReturnType<typeof protocolParts>;

export interface HttpServeOptions extends ServeOptions, Omit<HttpServiceOptions, keyof ServeOptions | ProvidedOptions> {
  /** Also accepts `tools/call` without a handshake, and answers with the tool's bare data. */
  acceptsBareCalls: boolean;
}

/** How long running calls may continue after the client closed its input. Clients soon kill a server that keeps running. */
const drainMs = 1_500;

/** Notifies clients of changes that they have rights to see. */
function watchFeatures(features: ServerFeatures): Watches {
  const watches = createWatches({
    resourcesOf: ({ rights }) => features.scopedTo(rights).resources,
    taskOf: (taskId, call) => findTask(features.scopedTo(call.caller.rights), taskId, call),
    log: features.log,
  });
  features.onWrite(() => watches.wake());
  features.tasks?.onChange(() => watches.wake());
  return watches;
}

export function serveOverStdio({ input, output, ...options }: StdioServeOptions): StdioService {
  return serveStdio({
    ...linesOptions(options, watchFeatures(options.features), options.features.log, 'stdio'),
    input,
    output,
  });
}

/** Serves one of several clients of a shared process, as if it were the only one. */
export type ServeClient = (client: string, log: Logger, output: LineOutput) => ClientLines;

export function createServeClient(options: ServeOptions): ServeClient {
  const watches = watchFeatures(options.features);
  return (client, log, output) => serveLines({ ...linesOptions(options, watches, log, `stdio-${client}`), output });
}

function linesOptions(options: ServeOptions, watches: Watches, log: Logger, id: string) {
  const { limits, revisions } = options;
  const clientOptions = { ...options, features: { ...options.features, log } };
  // Each client has its own id, so that the jobs and tasks of one are invalid for others in a shared process.
  const caller: Caller = { ...localUser, id, owner: id };
  return { limits, revisions, log, drainMs, caller, ...protocolParts(clientOptions, watches, 'pipe') };
}

export async function serveOverHttp(options: HttpServeOptions): Promise<HttpService> {
  const { features } = options;
  // Imported on demand: these modules load most of Node's network code, which stdio doesn't need.
  const [{ serveHttp }, { createBareCall }] = await Promise.all([
    import('./http/service.ts'),
    import('./http/bare-call.ts'),
  ]);
  return serveHttp({
    ...options,
    ...protocolParts(options, watchFeatures(features), 'tcp'),
    log: features.log,
    recorder: features.recorder,
    inputSchema: (tool, { rights }) => features.scopedTo(rights).catalogue.find(tool)?.listing.inputSchema,
    ...(options.acceptsBareCalls ? { bareCall: createBareCall(features) } : {}),
  });
}

function protocolParts(
  { features, revisions, createMethods, modern = loadModernProtocol }: ServeOptions,
  watches: Watches,
  transport: Transport,
) {
  const service = { features, revisions: revisions.handshake, watches, transport, createMethods };
  const openConversation: OpenConversation = (caller, connection) => createConversation(service, caller, connection);
  return {
    openConversation,
    modern: () => modern(features, transport),
    subscriptions: createSubscriptionStreams(watches),
  };
}

/** Loads the SDK. Called on the first request of 2026-07-28. */
export async function loadModernProtocol(features: ServerFeatures, transport: Transport): Promise<ModernProtocol> {
  const { createModernProtocol } = await import('./sessions/modern-answers.ts');
  return createModernProtocol(features, transport);
}
