import type { Readable, Writable } from 'node:stream';
import type { Server } from '@modelcontextprotocol/server';
import type { GuardOptions } from '../http/guards.ts';
import type { ListenLimits } from '../http/listen.ts';
import { type Caller, localUser } from '../tools/call.ts';
import type { SecretRoute } from '../tools/secret-route.ts';
import type { Conversation } from './conversation.ts';
import type { HttpService, PageHandler } from './http/service.ts';
import type { SessionLimits } from './http/sessions.ts';
import type { MessageLimits } from './messages.ts';
import { createProtocolServer, type Offer } from './protocol-server.ts';
import { type Era, modernRevisions, type OfferedRevisions } from './protocol-versions.ts';
import type { RelayService, RelayServing } from './relay/serve-relays.ts';
import { type StdioService, serveLines, serveStdio } from './stdio.ts';

interface Common {
  offer: Offer;
  revisions: OfferedRevisions;
  limits: MessageLimits;
  /** Adds to a server what the tool model cannot express; the conformance fixtures need that. */
  extend?: (server: Server) => void;
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
  secretRoutes?: readonly SecretRoute[];
  pages?: PageHandler;
  /** What `GET /metrics` answers, in Prometheus's text format. */
  metrics?: () => Promise<string>;
}

/** How long running calls may continue after the client closed its end; then they are aborted. */
const drainMs = 1_500;

/** All clients on stdio are one person's: a task that one began can be asked for by the next. */
const stdioOwner = 'stdio';

export function serveOverStdio(serving: StdioServing): StdioService {
  const caller: Caller = { ...localUser, id: 'stdio', owner: stdioOwner };
  return serveStdio({
    ...serving,
    log: serving.offer.log,
    drainMs,
    createServer: (era, conversation) => createServer(serving, era, caller, conversation, 'pipe'),
  });
}

export interface RelaysServing extends Common, Omit<RelayServing, 'serveLines' | 'welcome' | 'log'> {}

/** Serves the clients of several relays, each as if it were alone on stdio. */
export async function serveOverRelays(serving: RelaysServing): Promise<RelayService> {
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
        createServer: (era, conversation) => createServer(own, era, caller, conversation, 'pipe'),
      });
    },
  });
}

export async function serveOverHttp(serving: HttpServing): Promise<HttpService> {
  // These load most of Node's network code, which stdio does not need.
  const [{ serveHttp }, { createBareCall }] = await Promise.all([
    import('./http/service.ts'),
    import('./http/bare-call.ts'),
  ]);
  return serveHttp({
    ...serving,
    log: serving.offer.log,
    recorder: serving.offer.recorder,
    createServer: (era, caller, conversation) => createServer(serving, era, caller, conversation, 'tcp'),
    inputSchema: (tool, { rights }) => serving.offer.within(rights).catalogue.find(tool)?.listing.inputSchema,
    ...(serving.bareCalls ? { bareCall: createBareCall(serving.offer) } : {}),
  });
}

function createServer(
  { offer, revisions, extend }: Common,
  era: Era,
  caller: Caller,
  conversation: Conversation | undefined,
  transport: 'pipe' | 'tcp',
): Server {
  const server = createProtocolServer(offer.within(caller.rights), {
    era,
    caller,
    revisions: era === 'modern' ? [...modernRevisions] : revisions.handshake,
    keepCancellable: (innerId, cancel) => conversation?.keepCancellable(innerId, cancel) ?? (() => {}),
    about: (id) => ({
      transport,
      revision: conversation === undefined ? modernRevisions[0] : conversation.revision,
      sessionId: conversation?.sessionId,
      requestId: conversation === undefined ? String(id) : conversation.requestId(id),
    }),
  });
  extend?.(server);
  return server;
}
