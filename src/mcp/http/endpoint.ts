import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from '../../base/log.ts';
import type { SharedStore } from '../../base/shared-store.ts';
import type { PrincipalWatch } from '../../http/principal-watch.ts';
import { refuseUnread, respondEmpty, respondJson } from '../../http/respond.ts';
import type { Recorder } from '../../telemetry/recorder.ts';
import type { Caller } from '../../tools/call.ts';
import { errorAnswer, type Incoming, type MessageLimits, type ParsedText } from '../messages/messages.ts';
import { allowsBatches, modernRevisions, namesRevision, type SupportedRevisions } from '../protocol-versions.ts';
import { noopSink, type OpenConversation } from '../sessions/conversation.ts';
import type { ModernProtocol } from '../sessions/modern-answers.ts';
import type { SubscriptionStreams } from '../sessions/subscription-streams.ts';
import { rpcCodes } from '../wire-errors.ts';
import type { ModernRoute } from './modern-route.ts';
import { readMessages, respondProblem, rpcProblem } from './read-messages.ts';
import type { Session } from './session.ts';
import { createSessions, type SessionLimits } from './sessions.ts';
import { createSharedSessions } from './shared-sessions.ts';
import { callerKey, callerOf, type Visitor } from './visitor.ts';

export interface EndpointOptions {
  /** Ends sessions when their tokens are revoked. */
  watch: PrincipalWatch;
  limits: MessageLimits;
  sessions: SessionLimits;
  revisions: SupportedRevisions;
  log: Logger;
  openConversation: OpenConversation;
  modern(): Promise<ModernProtocol>;
  /** True (the default) if answers may be event streams. If false, answers are plain JSON and progress is dropped. */
  streams?: boolean;
  /** Returns a tool's input schema, as in `tools/list`. */
  inputSchema(tool: string, caller: Caller): object | undefined;
  /** Opens streams of change notifications for clients of 2026-07-28. */
  subscriptions: SubscriptionStreams;
  /** Accepts calls without a handshake, for roles whose specification allows them. */
  bareCall?: BareCall;
  recorder?: Recorder | undefined;
  /** The store through which other processes can continue a session. */
  shared?: SharedStore | undefined;
}

/** Answers a message that belongs to no session. Returns the complete JSON-RPC answer. */
export type BareCall = (incoming: Incoming, caller: Caller, signal: AbortSignal) => Promise<object | undefined>;

export interface Endpoint {
  /** Number of open sessions. */
  sessions(): number;
  handle(request: IncomingMessage, response: ServerResponse, visitor: Visitor): Promise<void>;
  close(): Promise<void>;
}

const retrySoon = { 'retry-after': '5' };
const tooManySessions = 'Too many sessions are in use. Try again in a few seconds.';
/** Matches event ids of a session's first stream, which carries messages that answer no request. */
const firstStreamEventId = /-1-\d+$/;

/** Creates the MCP endpoint: POST, GET and DELETE on one path, for every protocol revision that the role offers. */
export function createEndpoint(options: EndpointOptions): Endpoint {
  const { limits, revisions } = options;
  const sharedSessions = options.shared && createSharedSessions(options.shared, options.sessions, options.log);
  const sessions = createSessions(
    options.sessions,
    limits,
    options.recorder?.sessionEnded,
    sharedSessions && ((id) => ({ tag: sharedSessions.tag, forward: (message) => forward(id, message) })),
  );
  /** Forwards a message to the process with the client's stream. Skips resource updates, which that process detects itself. */
  const forward = (id: string, message: object): void => {
    if ('method' in message && message.method === 'notifications/resources/updated') return;
    sharedSessions?.forwardOutgoing(id, message);
  };
  const stopListening = sharedSessions?.listen({
    ended(id) {
      const session = sessions.get(id);
      if (session) void sessions.end(session);
    },
    incoming: (id, incoming) => void sessions.get(id)?.conversation.receive(incoming, noopSink),
    outgoing: (id, message) => sessions.get(id)?.deliver(message),
  });
  let modern: Promise<ModernRoute> | undefined;
  /** Creates the route for 2026-07-28, on demand, because it loads the MCP SDK. */
  const openModern = async (): Promise<ModernRoute> => {
    const [protocol, { createModernRoute }] = await Promise.all([options.modern(), import('./modern-route.ts')]);
    return createModernRoute(options, protocol);
  };

  const post = async (request: IncomingMessage, response: ServerResponse, visitor: Visitor): Promise<void> => {
    // Bare calls are always answered with status 200, even if they are not valid JSON.
    const isBare = options.bareCall !== undefined && request.headers['mcp-session-id'] === undefined;
    const message = await readMessages(request, response, limits, isBare ? 200 : 400);
    if (message === undefined) return;
    if (revisions.modern && isModern(request, message.parsed)) {
      modern ??= openModern();
      const route = await modern;
      await route.handle(request, response, message, callerOf(visitor));
      return;
    }
    await postToSession(request, response, visitor, message);
  };

  const postToSession = async (
    request: IncomingMessage,
    response: ServerResponse,
    visitor: Visitor,
    { incoming, batch }: ParsedText & { ok: true },
  ): Promise<void> => {
    const accepts = acceptedTypes(request, options.streams ?? true);
    if (!accepts.json && !accepts.stream) {
      const types = options.streams === false ? 'application/json' : 'application/json or text/event-stream';
      respondProblem(response, 406, `Accept must allow ${types}.`);
      return;
    }
    const [first] = incoming;
    const isInitialize = !batch && first?.kind === 'request' && first.method === 'initialize';
    const sessionId = request.headers['mcp-session-id'];
    if (sessionId === undefined && !isInitialize) {
      if (options.bareCall && !batch && first) await answerBare(options.bareCall, first, response, visitor);
      else respondJson(response, 400, errorAnswer(idOf(first), rpcCodes.invalidRequest, 'Server not initialized'));
      return;
    }
    const isNew = isInitialize && sessionId === undefined;
    const session = isNew ? openSession(visitor) : await findSession(request, response, visitor);
    if (session === undefined) {
      if (isNew) respondProblem(response, 503, tooManySessions, retrySoon);
      return;
    }
    if (batch && !allowsBatches(session.conversation.revision)) {
      respondProblem(response, 400, 'This protocol revision has no batches.');
      return;
    }
    await sharedSessions?.prepare(session, incoming);
    await session.post({ response, incoming, batch, acceptsJson: accepts.json, acceptsStream: accepts.stream });
  };

  /** Opens another process's session here by replaying its handshake. */
  const adopt = async (id: string, visitor: Visitor): Promise<Session | 'full' | undefined> => {
    const handshake = await sharedSessions?.find(id, callerKey(visitor));
    // Another request may have opened the session meanwhile.
    const existing = sessions.find(id, callerKey(visitor));
    if (handshake === undefined || existing !== undefined) return existing;
    const session = openSession(visitor, id);
    if (session === undefined) return 'full';
    await sharedSessions?.restore(session, handshake);
    return session;
  };

  const openSession = (visitor: Visitor, id?: string): Session | undefined => {
    const unwatch = options.watch.add(visitor.principal, () => {
      if (session) void sessions.end(session);
    });
    const session = sessions.open(
      callerKey(visitor),
      (connection) => options.openConversation(callerOf(visitor, connection.sessionId), connection),
      unwatch,
      id,
    );
    if (session === undefined) unwatch();
    return session;
  };

  /** Finds the request's session, or answers with an error. */
  const findSession = async (
    request: IncomingMessage,
    response: ServerResponse,
    visitor: Visitor,
  ): Promise<Session | undefined> => {
    const sessionId = request.headers['mcp-session-id'];
    if (typeof sessionId !== 'string') {
      respondProblem(response, 400, 'The Mcp-Session-Id header is missing. Send initialize first.');
      return undefined;
    }
    const session =
      sessions.find(sessionId, callerKey(visitor)) ?? (await adopt(sessionId, visitor).catch(() => 'failed' as const));
    if (session === 'failed') {
      respondProblem(response, 503, 'The database does not answer. Try again in a few seconds.', retrySoon);
      return undefined;
    }
    if (session === 'full') {
      respondProblem(response, 503, tooManySessions, retrySoon);
      return undefined;
    }
    if (session === undefined) {
      respondProblem(response, 404, 'Session not found: it expired or never existed. Send initialize again.');
      return undefined;
    }
    const revision = request.headers['mcp-protocol-version'];
    if (revision !== undefined && !revisions.cody && !revisions.handshake.includes(String(revision))) {
      const offered = revisions.handshake.join(', ');
      respondProblem(response, 400, `Unsupported MCP-Protocol-Version. Supported: ${offered}.`);
      return undefined;
    }
    return session;
  };

  const get = async (request: IncomingMessage, response: ServerResponse, visitor: Visitor): Promise<void> => {
    if (!/text\/event-stream|\*\/\*/.test(request.headers.accept ?? '')) {
      respondProblem(response, 406, 'GET opens an event stream: Accept must allow text/event-stream.');
      return;
    }
    const session = await findSession(request, response, visitor);
    if (session === undefined) return;
    sharedSessions?.use(session.id);
    const lastEventId = request.headers['last-event-id'];
    if (typeof lastEventId === 'string') {
      if (session.resume(response, lastEventId)) return;
      // Another process's stream can't be resumed: its missed messages are lost, and later ones arrive here.
      const isFromOtherProcess =
        sharedSessions !== undefined &&
        firstStreamEventId.test(lastEventId) &&
        !lastEventId.startsWith(sharedSessions.tag);
      if (isFromOtherProcess && session.listen(response)) return;
      respondProblem(
        response,
        400,
        'This Last-Event-ID is unknown or too old to resume from. Connect again without it.',
      );
      return;
    }
    if (session.listen(response)) return;
    respondProblem(response, 409, 'This session already has an event stream.');
  };

  return {
    sessions: () => sessions.count,
    async handle(request, response, visitor) {
      switch (request.method) {
        case 'POST':
          await post(request, response, visitor);
          return;
        case 'GET':
          if (options.streams === false) {
            refuseUnread(response, 405, rpcProblem('Event streams are disabled here.'), { allow: 'POST, DELETE' });
            return;
          }
          await get(request, response, visitor);
          return;
        case 'DELETE': {
          const session = await findSession(request, response, visitor);
          if (session === undefined) return;
          await sharedSessions?.end(session.id);
          await sessions.end(session);
          respondEmpty(response, 200);
          return;
        }
        default:
          refuseUnread(response, 405, rpcProblem('Use POST, GET or DELETE.'), { allow: 'POST, GET, DELETE' });
      }
    },
    async close() {
      stopListening?.();
      await sessions.closeAll();
      await (await modern)?.close();
    },
  };
}

async function answerBare(
  bareCall: BareCall,
  incoming: Incoming,
  response: ServerResponse,
  visitor: Visitor,
): Promise<void> {
  const controller = new AbortController();
  response.on('close', () => controller.abort());
  const answer = await bareCall(incoming, callerOf(visitor), controller.signal);
  if (answer === undefined) respondEmpty(response, 202);
  else respondJson(response, 200, answer);
}

function isModern(request: IncomingMessage, parsed: unknown): boolean {
  const revision = String(request.headers['mcp-protocol-version'] ?? '').trim();
  if ((modernRevisions as readonly string[]).includes(revision)) return true;
  return Array.isArray(parsed) ? parsed.some(namesRevision) : namesRevision(parsed);
}

/** Reads the Accept header. Without one, only JSON is sent. */
function acceptedTypes(request: IncomingMessage, streams: boolean): { json: boolean; stream: boolean } {
  const accept = request.headers.accept;
  if (accept === undefined || accept.includes('*/*'))
    return { json: true, stream: streams && (accept?.includes('text/event-stream') ?? false) };
  return { json: /application\/(json|\*)/.test(accept), stream: streams && /text\/(event-stream|\*)/.test(accept) };
}

function idOf(incoming: Incoming | undefined) {
  return incoming !== undefined && 'id' in incoming ? incoming.id : null;
}
