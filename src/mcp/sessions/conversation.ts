import type { Caller, ClientName } from '../../tools/call.ts';
import { answerOf, errorAnswer, type Incoming, idText, type WireId } from '../messages/messages.ts';
import { clientName, type IncomingRequest, type Params } from '../methods/incoming-call.ts';
import { createMethods, type Methods } from '../methods/methods.ts';
import { type ServerFeatures, serverInfoFor } from '../server-features.ts';
import { rpcCodes } from '../wire-errors.ts';
import { createClientRequests } from './client-requests.ts';
import { readHandshake } from './read-handshake.ts';
import type { Watch, Watches } from './watches.ts';

/** Receives the messages for a client: the output on stdio, or one HTTP response. */
export interface Sink {
  /** Sends the answer to a request. */
  answer(message: object): void;
  /** Sends a message while a request runs: progress, or a question. */
  send(message: object): void;
  /** Called instead of `answer` if the request was cancelled or the conversation ended. */
  dropped(): void;
  /** Closes the connection, but not the request: the client reconnects for the answer. */
  hangUp?(): void;
}

export const noopSink: Sink = { answer() {}, send() {}, dropped() {} };

/** Shared by all conversations of a service. */
export interface ConversationService {
  readonly features: ServerFeatures;
  /** Supported revisions, newest first. A client that asks for an unsupported one gets the first. */
  readonly revisions: readonly string[];
  readonly watches: Watches;
  readonly transport: 'pipe' | 'tcp';
  /** Replaces the methods that answer requests, in tests. */
  readonly createMethods?: typeof createMethods | undefined;
}

/** One client's connection. */
export interface Connection {
  /** Sends messages that belong to no pending request. */
  standalone: Pick<Sink, 'send'>;
  sessionId?: string;
  /** Makes the ids of requests to the client unique across processes, if answers may reach another process. */
  tag?: string;
  /** How long a request waits for `notifications/initialized`, which may arrive later over HTTP. Not needed on stdio. */
  initializedGraceMs?: number;
}

export type OpenConversation = (caller: Caller, connection: Connection) => Conversation;

export interface Conversation {
  readonly revision: string | undefined;
  /** Number of unanswered requests. */
  readonly pending: number;
  /** True once the handshake is complete. */
  readonly isReady: boolean;
  receive(incoming: Incoming, sink: Sink): Promise<void>;
  close(): Promise<void>;
}

interface Pending {
  id: WireId;
  sink: Sink;
  controller: AbortController;
}

/**
 * Creates the conversation with one client, in the revisions that start with `initialize`:
 *
 * - before the handshake is complete, only `ping` is answered;
 * - two requests with the same id are both answered, and ids come back unchanged;
 * - a cancelled request is dropped; work that continues after an answer can be cancelled too.
 *
 * Clients never share a conversation, so no answer can reach the wrong one.
 */
export function createConversation(
  { features: allFeatures, revisions, watches, transport, createMethods: create = createMethods }: ConversationService,
  caller: Caller,
  { standalone, sessionId, tag, initializedGraceMs = 0 }: Connection,
): Conversation {
  const features = allFeatures.scopedTo(caller.rights);
  const pending = new Set<Pending>();
  /** Functions that cancel work which continues after the answer, by request key. */
  const backgroundCancels = new Map<string, () => void>();
  const clientRequests = createClientRequests(tag);
  const ready = Promise.withResolvers<void>();
  let phase: 'new' | 'initializing' | 'ready' = 'new';
  let revision: string | undefined;
  let client: ClientName = clientName(undefined);
  let capabilities: unknown;
  let count = 0;
  let watch: Watch | undefined;
  let endClient: (() => void) | undefined;

  const openWatch = (): Watch => {
    watch ??= watches.open(caller, (method, params) => {
      standalone.send({ jsonrpc: '2.0', method, ...(params ? { params } : {}) });
    });
    return watch;
  };
  const methods: Methods = create(features, { era: 'handshake', caller, watch: openWatch });

  const initialize = ({ id, params }: Incoming & { kind: 'request' }, sink: Sink): void => {
    if (phase !== 'new') {
      const problem = 'Invalid request: this session is already initialized.';
      sink.answer(errorAnswer(id, rpcCodes.invalidRequest, problem));
      return;
    }
    const handshake = readHandshake(params);
    if (typeof handshake === 'string') {
      sink.answer(errorAnswer(id, rpcCodes.invalidParams, `Invalid params: ${handshake}`));
      return;
    }
    phase = 'initializing';
    client = clientName(handshake['clientInfo']);
    capabilities = handshake['capabilities'];
    const protocolVersion = revisions.find((each) => each === handshake['protocolVersion']) ?? revisions[0] ?? '';
    revision = protocolVersion;
    const { instructions } = features;
    const result = {
      protocolVersion,
      capabilities: methods.capabilities,
      serverInfo: serverInfoFor(features, protocolVersion),
      ...(instructions ? { instructions } : {}),
    };
    sink.answer({ result, jsonrpc: '2.0', id: id.value });
  };

  const requestOf = (request: Pending, params: Params | undefined): IncomingRequest => {
    const { id, sink, controller } = request;
    const { signal } = controller;
    /** Once the request is answered, its messages go to the standalone stream. */
    const send = (message: object): void => (pending.has(request) ? sink : standalone).send(message);
    count += 1;
    return {
      id: count,
      attributes: { transport, revision, sessionId, requestId: idText(id) },
      meta: params?.['_meta'] as Params | undefined,
      client,
      capabilities,
      signal,
      notify: (method, params) => send({ jsonrpc: '2.0', method, params }),
      send: (method, params, timeoutMs) => clientRequests.send(method, params, { timeoutMs, signal, send }),
      keepCancellable(cancel) {
        backgroundCancels.set(id.key, cancel);
        return () => {
          if (backgroundCancels.get(id.key) === cancel) backgroundCancels.delete(id.key);
        };
      },
      ...(sink.hangUp ? { hangUp: sink.hangUp } : {}),
    };
  };

  const answer = async ({ id, method, params }: Incoming & { kind: 'request' }, sink: Sink): Promise<void> => {
    if (method === 'ping') {
      sink.answer({ result: {}, jsonrpc: '2.0', id: id.value });
      return;
    }
    const request: Pending = { id, sink, controller: new AbortController() };
    pending.add(request);
    const message = await answerOf(id, methods.answer(method, params, requestOf(request, params)));
    // The request was cancelled meanwhile.
    if (!pending.delete(request)) return;
    try {
      sink.answer(message);
    } catch {
      // The result can't be serialized.
      sink.answer(errorAnswer(id, rpcCodes.internal, 'Internal error'));
    }
  };

  const cancel = (params: Params | undefined): void => {
    const key = idKey(params?.['requestId']);
    if (key === undefined) return;
    for (const request of [...pending].filter(({ id }) => id.key === key)) {
      pending.delete(request);
      request.controller.abort();
      request.sink.dropped();
    }
    backgroundCancels.get(key)?.();
    backgroundCancels.delete(key);
  };

  const complete = (): void => {
    phase = 'ready';
    endClient = features.onClient?.(client, caller);
    ready.resolve();
  };

  return {
    get revision() {
      return revision;
    },
    get pending() {
      return pending.size;
    },
    get isReady() {
      return phase === 'ready';
    },
    async receive(incoming, sink) {
      switch (incoming.kind) {
        case 'invalid':
          sink.answer(errorAnswer(incoming.id, incoming.code, incoming.problem));
          return;
        case 'response':
          clientRequests.receive(incoming.message);
          return;
        case 'notification':
          if (incoming.method === 'notifications/cancelled') cancel(incoming.params);
          else if (incoming.method === 'notifications/initialized' && phase === 'initializing') complete();
          return;
        case 'request':
          if (incoming.method === 'initialize') {
            initialize(incoming, sink);
            return;
          }
          if (phase === 'initializing' && incoming.method !== 'ping')
            await waitAtMost(ready.promise, initializedGraceMs);
          if (phase !== 'ready' && incoming.method !== 'ping') {
            sink.answer(errorAnswer(incoming.id, rpcCodes.invalidRequest, 'Server not initialized'));
            return;
          }
          void answer(incoming, sink);
      }
    },
    async close() {
      endClient?.();
      watch?.close();
      clientRequests.close();
      const unanswered = [...pending];
      pending.clear();
      for (const { sink, controller } of unanswered) {
        controller.abort();
        sink.dropped();
      }
    },
  };
}

export function idKey(value: unknown): string | undefined {
  if (typeof value === 'string') return `s:${value}`;
  return typeof value === 'number' ? `n:${value}` : undefined;
}

async function waitAtMost(event: Promise<void>, ms: number): Promise<void> {
  if (ms <= 0) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([event, promise]);
  clearTimeout(timer);
}
