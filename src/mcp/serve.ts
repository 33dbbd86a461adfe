import type { Readable, Writable } from 'node:stream';
import type { Logger } from '../base/log.ts';
import { type Caller, localUser } from '../tools/call.ts';
import type { HttpService, HttpServiceOptions } from './http/service.ts';
import type { MessageLimits } from './messages/messages.ts';
import type { createMethods } from './methods/methods.ts';
import type { Offer } from './offer.ts';
import type { OfferedRevisions } from './protocol-versions.ts';
import { createConversation, type OpenConversation } from './sessions/conversation.ts';
import type { Modern } from './sessions/modern-answers.ts';
import { createListen } from './sessions/subscription-streams.ts';
import { createWatches, type Watches } from './sessions/watches.ts';
import type { LineOutput } from './stdio/peer.ts';
import { type ClientLines, type StdioService, serveLines, serveStdio } from './stdio/stdio.ts';
import { findTask } from './tasks/task-methods.ts';

export interface Serving {
  offer: Offer;
  revisions: OfferedRevisions;
  limits: MessageLimits;
  /** Replaces the methods that answer requests. */
  createMethods?: typeof createMethods;
  modern?: (offer: Offer, transport: Transport) => Promise<Modern>;
}

type Transport = 'pipe' | 'tcp';

export interface StdioServing extends Serving {
  input: Readable;
  output: Writable;
}

type ServingParts = 'log' | 'recorder' | 'inputSchema' | 'bareCall' | keyof ReturnType<typeof protocolParts>;

export interface HttpServing extends Serving, Omit<HttpServiceOptions, keyof Serving | ServingParts> {
  /** Also accepts `tools/call` without a handshake, and answers with the tool's bare data. */
  acceptsBareCalls: boolean;
}

/** How long running calls may continue after the client closed its input. Then they are aborted. */
const drainMs = 1_500;

/** Notifies clients of changes that they have rights to see. */
function watch(offer: Offer): Watches {
  const watches = createWatches({
    resourcesOf: ({ rights }) => offer.scopedTo(rights).resources,
    taskOf: (taskId, call) => findTask(offer.scopedTo(call.caller.rights), taskId, call),
    log: offer.log,
  });
  offer.onWrite(() => watches.wake());
  offer.tasks?.onChange(() => watches.wake());
  return watches;
}

export function serveOverStdio({ input, output, ...serving }: StdioServing): StdioService {
  return serveStdio({ ...linesOptions(serving, watch(serving.offer), serving.offer.log, 'stdio'), input, output });
}

/** Serves one of several clients of a shared process, as if it were the only one. */
export type ServeClient = (client: string, log: Logger, output: LineOutput) => ClientLines;

export function createServeClient(serving: Serving): ServeClient {
  const watches = watch(serving.offer);
  return (client, log, output) => serveLines({ ...linesOptions(serving, watches, log, `stdio-${client}`), output });
}

function linesOptions(serving: Serving, watches: Watches, log: Logger, id: string) {
  const { limits, revisions } = serving;
  const clientServing = { ...serving, offer: { ...serving.offer, log } };
  // Each client has its own id, so that the jobs and tasks of one are invalid for others in a shared process.
  const caller: Caller = { ...localUser, id, owner: id };
  return { limits, revisions, log, drainMs, caller, ...protocolParts(clientServing, watches, 'pipe') };
}

export async function serveOverHttp(serving: HttpServing): Promise<HttpService> {
  const { offer } = serving;
  // Imported on demand: these modules load most of Node's network code, which stdio doesn't need.
  const [{ serveHttp }, { createBareCall }] = await Promise.all([
    import('./http/service.ts'),
    import('./http/bare-call.ts'),
  ]);
  return serveHttp({
    ...serving,
    ...protocolParts(serving, watch(offer), 'tcp'),
    log: offer.log,
    recorder: offer.recorder,
    inputSchema: (tool, { rights }) => offer.scopedTo(rights).catalogue.find(tool)?.listing.inputSchema,
    ...(serving.acceptsBareCalls ? { bareCall: createBareCall(offer) } : {}),
  });
}

function protocolParts(
  { offer, revisions, createMethods, modern = loadModern }: Serving,
  watches: Watches,
  transport: Transport,
) {
  const service = { offer, revisions: revisions.handshake, watches, transport, createMethods };
  const openConversation: OpenConversation = (caller, connection) => createConversation(service, caller, connection);
  return { openConversation, modern: () => modern(offer, transport), listen: createListen(watches) };
}

/** Loads the SDK, with the first request of 2026-07-28. */
export async function loadModern(offer: Offer, transport: Transport): Promise<Modern> {
  const { createModern } = await import('./sessions/modern-answers.ts');
  return createModern(offer, transport);
}
