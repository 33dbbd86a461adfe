import type { Readable, Writable } from 'node:stream';
import type { SharedStore } from '../base/shared-store.ts';
import type { GuardOptions } from '../http/guards.ts';
import type { ListenLimits } from '../http/listen.ts';
import { type Caller, localUser } from '../tools/call.ts';
import type { SecretRoute } from '../tools/secret-route.ts';
import { lookAtTask } from './answer-request.ts';
import type { Conversation, ProtocolServer } from './conversation.ts';
import type { Extension } from './extension.ts';
import type { HttpService, PageHandler } from './http/service.ts';
import type { SessionLimits } from './http/sessions.ts';
import { createListen } from './listen.ts';
import type { MessageLimits } from './messages.ts';
import type { Modern } from './modern-answers.ts';
import type { Offer } from './offer.ts';
import { createProtocolServer } from './protocol-server.ts';
import type { OfferedRevisions } from './protocol-versions.ts';
import type { RelayService, RelayServing } from './relay/serve-relays.ts';
import { type StdioService, serveLines, serveStdio } from './stdio.ts';
import { createWatches, type Watches } from './watches.ts';

interface Common {
  offer: Offer;
  revisions: OfferedRevisions;
  limits: MessageLimits;
  extension?: Extension;
}

export interface StdioServing extends Common {
  input: Readable;
  output: Writable;
}

export interface HttpServing extends Common, Omit<GuardOptions, 'log'> {
  port: number;
  path: string;
  sessions: SessionLimits;
  listenLimits?: Partial<ListenLimits>;
  /** Also take `tools/call` without any handshake, and answer with the tool's bare data. */
  bareCalls: boolean;
  /** Whether answers may be event streams; true unless told. */
  streams?: boolean;
  health(detailed: boolean): Record<string, unknown>;
  resource?: { readonly path: string; readonly metadata: object } | undefined;
  /** Where other processes may go on with a session. */
  shared?: SharedStore | undefined;
  secretRoutes?: readonly SecretRoute[];
  pages?: PageHandler;
  /** What `GET /metrics` answers, in Prometheus's text format. */
  metrics?: () => Promise<string>;
}

/** How long running calls may continue after the client closed its end; then they are aborted. */
const drainMs = 1_500;

/** All clients on stdio are one person's: a task that one began can be asked for by the next. */
const stdioOwner = 'stdio';

/** Tells clients of changes, each of what it may see. */
function watch(offer: Offer): Watches {
  const watches = createWatches({
    resourcesOf: ({ rights }) => offer.within(rights).resources,
    taskOf: (taskId, call) => lookAtTask(offer.within(call.caller.rights), taskId, call),
    log: offer.log,
  });
  offer.onWrite(() => watches.wake());
  offer.tasks?.onChange(() => watches.wake());
  return watches;
}

export function serveOverStdio(given: StdioServing): StdioService {
  const serving = { ...given, watches: watch(given.offer) };
  const caller: Caller = { ...localUser, id: 'stdio', owner: stdioOwner };
  return serveStdio({
    ...serving,
    log: serving.offer.log,
    drainMs,
    createServer: (conversation) => createServer(serving, caller, conversation, 'pipe'),
    modern: () => loadModern(serving, 'pipe'),
    caller,
    listen: createListen(serving.watches),
  });
}

export interface RelaysServing extends Common, Omit<RelayServing, 'serveLines' | 'welcome' | 'log'> {}

/** Serves the clients of several relays, each as if it were alone on stdio. */
export async function serveOverRelays(given: RelaysServing): Promise<RelayService> {
  const serving = { ...given, watches: watch(given.offer) };
  const { offer, limits, revisions } = serving;
  const { serveRelays } = await import('./relay/serve-relays.ts');
  const tools = offer.catalogue.toolsets.flatMap((toolset) => toolset.tools);
  const readOnlyTools = tools.filter(({ effect }) => effect === 'read');
  return serveRelays({
    ...serving,
    log: offer.log,
    welcome: {
      pid: process.pid,
      bytesMax: limits.bytesMax,
      readOnlyTools: readOnlyTools.map(({ name }) => name),
    },
    serveLines(client, log, output) {
      const own = { ...serving, offer: { ...offer, log } };
      const caller: Caller = { ...localUser, id: `stdio-${client}`, owner: stdioOwner };
      return serveLines({
        output,
        limits,
        revisions,
        log,
        drainMs,
        createServer: (conversation) => createServer(own, caller, conversation, 'pipe'),
        modern: () => loadModern(own, 'pipe'),
        caller,
        listen: createListen(serving.watches),
      });
    },
  });
}

export async function serveOverHttp(given: HttpServing): Promise<HttpService> {
  const serving = { ...given, watches: watch(given.offer) };
  // These load most of Node's network code, which stdio does not need.
  const [{ serveHttp }, { createBareCall }] = await Promise.all([
    import('./http/service.ts'),
    import('./http/bare-call.ts'),
  ]);
  return serveHttp({
    ...serving,
    log: serving.offer.log,
    recorder: serving.offer.recorder,
    createServer: (caller, conversation) => createServer(serving, caller, conversation, 'tcp'),
    modern: () => loadModern(serving, 'tcp'),
    listen: createListen(serving.watches),
    inputSchema: (tool, { rights }) => serving.offer.within(rights).catalogue.find(tool)?.listing.inputSchema,
    ...(serving.bareCalls ? { bareCall: createBareCall(serving.offer) } : {}),
  });
}

function createServer(
  { offer, revisions, extension, watches }: Common & { watches: Watches },
  caller: Caller,
  conversation: Conversation,
  transport: 'pipe' | 'tcp',
): ProtocolServer {
  return createProtocolServer(offer.within(caller.rights), conversation, {
    caller,
    revisions: revisions.handshake,
    watches,
    extension,
    keepCancellable: (innerId, cancel) => conversation.keepCancellable(innerId, cancel),
    about: (id) => ({
      transport,
      revision: conversation.revision,
      sessionId: conversation.sessionId,
      requestId: conversation.requestId(id),
    }),
  });
}

async function loadModern({ offer, extension }: Common, transport: 'pipe' | 'tcp'): Promise<Modern> {
  const { createModern } = await import('./modern-answers.ts');
  return createModern(offer, transport, extension);
}
