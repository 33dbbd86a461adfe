import type { Caller, ClientName } from '../../tools/call.ts';
import { answerOf, errorAnswer, type Incoming, idText, type WireId } from '../messages/messages.ts';
import { clientName, type IncomingRequest, type Params } from '../methods/incoming-call.ts';
import { createMethods, type Methods } from '../methods/methods.ts';
import { introduction, type Offer } from '../offer.ts';
import { rpcCodes } from '../wire-errors.ts';
import { createClientRequests } from './client-requests.ts';
import { readHandshake } from './read-handshake.ts';
import type { Watch, Watches } from './watches.ts';

/** Where the answers to some requests go: the output of stdio, or one HTTP exchange. */
export interface Sink {
  /** The answer to one request that this sink waits for. */
  answer(message: object): void;
  /** What the server says on its own while such a request runs: progress, a question to the client. */
  tell(message: object): void;
  /** A request that gets no answer, because the client cancelled it or the conversation is over. */
  dropped(): void;
  /** Closes the connection but not the request: the client comes back for the answer. */
  hangUp?(): void;
}

export const noopSink: Sink = { answer() {}, tell() {}, dropped() {} };

/** What all conversations of a service have in common. */
export interface ConversationService {
  readonly offer: Offer;
  /** Newest first: the first is offered to a client that asks for another. */
  readonly revisions: readonly string[];
  readonly watches: Watches;
  readonly transport: 'pipe' | 'tcp';
  /** What answers requests; the usual methods unless given. */
  readonly createMethods?: typeof createMethods | undefined;
}

/** One client's connection. */
export interface Connection {
  /** Messages that belong to no request, or to one that was already answered. */
  standalone: Pick<Sink, 'tell'>;
  sessionId?: string;
  /** Marks the ids of our requests to the client, where its answers may reach another process first. */
  tag?: string;
  /**
   * How long a request may wait for `notifications/initialized` that the client has sent but that has not arrived:
   * HTTP requests overtake one another, lines on stdio do not.
   */
  initializedGraceMs?: number;
}

export type OpenConversation = (caller: Caller, connection: Connection) => Conversation;

export interface Conversation {
  readonly revision: string | undefined;
  /** Requests that have been taken and not answered. */
  readonly pending: number;
  /** The handshake is complete. */
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
 * One client's conversation in the revisions that open with `initialize`. It answers every request of theirs:
 *
 * - nothing but `ping` is carried out before the handshake is complete;
 * - two requests under the same id are both answered, and ids come back as they were sent;
 * - a cancelled request is forgotten at once, and what it left running can still be cancelled.
 *
 * It is never shared between clients, so no answer can reach the wrong one.
 */
export function createConversation(
  { offer: whole, revisions, watches, transport, createMethods: create = createMethods }: ConversationService,
  caller: Caller,
  { standalone, sessionId, tag, initializedGraceMs = 0 }: Connection,
): Conversation {
  const offer = whole.within(caller.rights);
  const pending = new Set<Pending>();
  /** Cancels work that goes on after its answer, by the key of the request's id. */
  const late = new Map<string, () => void>();
  const questions = createClientRequests(tag);
  const ready = Promise.withResolvers<void>();
  let phase: 'new' | 'initializing' | 'ready' = 'new';
  let revision: string | undefined;
  let client: ClientName = clientName(undefined);
  let capabilities: unknown;
  let count = 0;
  let watch: Watch | undefined;
  let gone: (() => void) | undefined;

  const openWatch = (): Watch => {
    watch ??= watches.open(caller, (method, params) => {
      standalone.tell({ jsonrpc: '2.0', method, ...(params ? { params } : {}) });
    });
    return watch;
  };
  const methods: Methods = create(offer, { era: 'handshake', caller, watch: openWatch });

  const initialize = ({ id, params: given }: Incoming & { kind: 'request' }, sink: Sink): void => {
    if (phase !== 'new') {
      const problem = 'Invalid request: this session is already initialized.';
      sink.answer(errorAnswer(id, rpcCodes.invalidRequest, problem));
      return;
    }
    const handshake = readHandshake(given);
    if (typeof handshake === 'string') {
      sink.answer(errorAnswer(id, rpcCodes.invalidParams, `Invalid params: ${handshake}`));
      return;
    }
    phase = 'initializing';
    client = clientName(handshake['clientInfo']);
    capabilities = handshake['capabilities'];
    const protocolVersion = revisions.find((each) => each === handshake['protocolVersion']) ?? revisions[0] ?? '';
    revision = protocolVersion;
    const { instructions } = offer;
    const result = {
      protocolVersion,
      capabilities: methods.capabilities,
      serverInfo: introduction(offer, protocolVersion),
      ...(instructions ? { instructions } : {}),
    };
    sink.answer({ result, jsonrpc: '2.0', id: id.value });
  };

  const requestOf = (request: Pending, params: Params | undefined): IncomingRequest => {
    const { id, sink, controller } = request;
    const { signal } = controller;
    /** After its answer, what a request says belongs to none. */
    const tell = (message: object): void => (pending.has(request) ? sink : standalone).tell(message);
    count += 1;
    return {
      id: count,
      about: { transport, revision, sessionId, requestId: idText(id) },
      meta: params?.['_meta'] as Params | undefined,
      client,
      capabilities,
      signal,
      notify: (method, told) => tell({ jsonrpc: '2.0', method, params: told }),
      send: (method, asked, timeoutMs) => questions.send(method, asked, { timeoutMs, signal, tell }),
      keepCancellable(cancel) {
        late.set(id.key, cancel);
        return () => {
          if (late.get(id.key) === cancel) late.delete(id.key);
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
    // Not if it was cancelled meanwhile.
    if (!pending.delete(request)) return;
    try {
      sink.answer(message);
    } catch {
      // A result that can't be written as JSON.
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
    late.get(key)?.();
    late.delete(key);
  };

  const complete = (): void => {
    phase = 'ready';
    gone = offer.onClient?.(client, caller);
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
          questions.receive(incoming.message);
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
          if (phase === 'initializing' && incoming.method !== 'ping') await within(ready.promise, initializedGraceMs);
          if (phase !== 'ready' && incoming.method !== 'ping') {
            sink.answer(errorAnswer(incoming.id, rpcCodes.invalidRequest, 'Server not initialized'));
            return;
          }
          void answer(incoming, sink);
      }
    },
    async close() {
      gone?.();
      watch?.close();
      questions.close();
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

async function within(event: Promise<void>, ms: number): Promise<void> {
  if (ms <= 0) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([event, promise]);
  clearTimeout(timer);
}
