import type { Server } from '@modelcontextprotocol/server';
import { errorAnswer, type Incoming, invalidParams, invalidRequest, type WireId } from './messages.ts';
import { createSdkLink } from './sdk-link.ts';
import { codeOnWire, internalError, RpcError } from './wire-errors.ts';

/** Where the answers to some requests go: the output of stdio, or one HTTP exchange. */
export interface Sink {
  /** The answer to one request that this sink waits for. */
  answer(message: object): void;
  /** What the server says on its own while such a request runs: progress, a question to the client. */
  tell(message: object): void;
  /** A request that gets no answer, because the client cancelled it or the conversation is over. */
  dropped(): void;
  /** Closes the connection but not the request: the client is to come back for the answer. */
  hangUp?(): void;
}

export interface ConversationOptions {
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

type Params = Record<string, unknown>;

/** One client's server. Whatever is not plain is for the SDK's, which is not loaded before that. */
export interface ProtocolServer {
  /** The result of a handshake, unless it is for the SDK. */
  initialize(params: Params): { readonly protocolVersion: string } | undefined;
  /** The handshake with these parameters is complete. */
  begin(params: Params): void;
  /** Whether a request goes past the SDK. */
  takes(method: string, params: Params | undefined): boolean;
  /** The result. Throws an RpcError for whatever fails. */
  answer(method: string, params: Params | undefined, innerId: number, signal: AbortSignal): Promise<object>;
  createSdk(): Promise<Server>;
  close(): void;
}

/** Cancels work that continues after its request was answered. */
export type LateCancel = () => void;

export interface Conversation {
  readonly revision: string | undefined;
  readonly sessionId: string | undefined;
  /** The id under which the client sent a request that has not been answered, as text. */
  requestId(innerId: string | number): string | undefined;
  /** Requests that have been taken and not answered. */
  readonly pending: number;
  /** The handshake is complete. */
  readonly isReady: boolean;
  /** Before anything is received. */
  attach(server: ProtocolServer): void;
  /** Says something to the client: on the way of a request, or on its own. */
  tell(message: object, innerId?: string | number): void;
  /** The SDK's server, as if it had heard all of this conversation. */
  openSdk(): Promise<Server>;
  receive(incoming: Incoming, sink: Sink): Promise<void>;
  /** Keeps a request cancellable by its id after its answer, until the returned function is called. */
  keepCancellable(innerId: string | number, cancel: LateCancel): () => void;
  close(): Promise<void>;
}

interface Pending {
  id: WireId;
  method: string;
  sink: Sink;
  /** Of a request that went past the SDK. */
  cancel?: () => void;
}

/**
 * One client's conversation in the revisions that open with `initialize`. It stands between a wire and a server:
 *
 * - requests get ids of our own inside, so that two requests under the same id are both answered, and ids that the SDK
 *   would refuse come back as they were sent;
 * - nothing but `ping` is carried out before the handshake is complete;
 * - a cancelled request is forgotten at once, and what it left running can still be cancelled.
 */
export function createConversation(options: ConversationOptions): Conversation {
  const pending = new Map<number, Pending>();
  const late = new Map<string, LateCancel>();
  let lastInnerId = 0;
  let revision: string | undefined;
  let server: ProtocolServer | undefined;
  /** What the client opened with. */
  let handshake: Params = {};
  let phase: 'new' | 'initializing' | 'ready' = 'new';
  /** Until the handshake is answered nothing goes past the SDK: no answer is to come before that one. */
  let isAnswered = false;
  const ready = Promise.withResolvers<void>();

  const tell = (message: object, innerId: string | number | undefined): void =>
    (pending.get(Number(innerId))?.sink ?? options.standalone).tell(message);

  const sdk = createSdkLink({
    sessionId: options.sessionId,
    tag: options.tag,
    async create() {
      if (server === undefined) throw new Error('This conversation has no server.');
      return server.createSdk();
    },
    handshake: () => (isAnswered ? handshake : undefined),
    agreed(version) {
      revision = version;
    },
    tell,
    answer(innerId, message) {
      const request = pending.get(innerId);
      if (request === undefined) return;
      pending.delete(innerId);
      if (request.method === 'initialize') isAnswered = 'result' in message;
      if (request.method === 'initialize' && 'error' in message) {
        phase = 'new';
        // The SDK answers with the text of its schema library.
        request.sink.answer(
          errorAnswer(request.id, invalidParams, 'Invalid params: capabilities or clientInfo is malformed.'),
        );
        return;
      }
      request.sink.answer(outward(message, request.id));
    },
  });

  const answerDirectly = async (
    answering: ProtocolServer,
    { id, method, params }: Incoming & { kind: 'request' },
    sink: Sink,
  ): Promise<void> => {
    const innerId = lastInnerId;
    const controller = new AbortController();
    pending.set(innerId, { id, method, sink, cancel: () => controller.abort() });
    let answer: object;
    try {
      const result = await answering.answer(method, params, innerId, controller.signal);
      answer = { result, jsonrpc: '2.0', id: id.value };
    } catch (thrown) {
      const { code, message, data } = thrown instanceof RpcError ? thrown : internalError;
      answer = errorAnswer(id, codeOnWire(code), message, data);
    }
    // Not if it was cancelled meanwhile.
    if (pending.delete(innerId)) sink.answer(answer);
  };

  const take = (incoming: Incoming & { kind: 'request' }, sink: Sink): void => {
    lastInnerId += 1;
    const { id, method, params } = incoming;
    const isPast = (isAnswered || phase === 'new') && server?.takes(method, params);
    if (isPast && method === 'ping') {
      sink.answer({ result: {}, jsonrpc: '2.0', id: id.value });
      return;
    }
    if (isPast && server) {
      answerDirectly(server, incoming, sink).catch(() => {
        sink.answer(errorAnswer(id, internalError.code, internalError.message));
      });
      return;
    }
    pending.set(lastInnerId, { id, method, sink });
    const extra = sink.hangUp ? { closeSSEStream: sink.hangUp } : undefined;
    sdk.deliver({ jsonrpc: '2.0', id: lastInnerId, method, ...(params === undefined ? {} : { params }) }, extra);
  };

  const initialize = (incoming: Incoming & { kind: 'request' }, sink: Sink): void => {
    const { id } = incoming;
    if (phase !== 'new') {
      sink.answer(errorAnswer(id, invalidRequest, 'Invalid request: this session is already initialized.'));
      return;
    }
    const params = readInitialize(incoming.params);
    if (typeof params === 'string') {
      sink.answer(errorAnswer(id, invalidParams, `Invalid params: ${params}`));
      return;
    }
    phase = 'initializing';
    handshake = params;
    const result = server?.initialize(params);
    if (result === undefined) {
      take({ ...incoming, params }, sink);
      return;
    }
    revision = result.protocolVersion;
    isAnswered = true;
    sink.answer({ result, jsonrpc: '2.0', id: id.value });
  };

  const cancel = (params: Record<string, unknown> | undefined): void => {
    const key = idKey(params?.['requestId']);
    if (key === undefined) return;
    for (const [innerId, request] of pending) {
      if (request.id.key !== key || request.method === 'initialize') continue;
      pending.delete(innerId);
      if (request.cancel) request.cancel();
      else sdk.deliver({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: innerId } });
      request.sink.dropped();
    }
    late.get(key)?.();
    late.delete(key);
  };

  return {
    get revision() {
      return revision;
    },
    sessionId: options.sessionId,
    requestId(innerId) {
      const id = pending.get(Number(innerId))?.id;
      return id === undefined ? undefined : String(id.value);
    },
    get pending() {
      return pending.size;
    },
    get isReady() {
      return phase === 'ready';
    },
    attach(attached) {
      server = attached;
    },
    tell,
    openSdk: sdk.open,
    async receive(incoming, sink) {
      switch (incoming.kind) {
        case 'invalid':
          sink.answer(errorAnswer(incoming.id, incoming.code, incoming.problem));
          return;
        case 'response':
          // Only the SDK asks.
          if (sdk.isOpen) sdk.deliverAnswer(incoming.message);
          return;
        case 'notification':
          if (incoming.method === 'notifications/cancelled') cancel(incoming.params);
          else {
            if (incoming.method === 'notifications/initialized' && phase === 'initializing') {
              phase = 'ready';
              server?.begin(handshake);
              ready.resolve();
            }
            const { method, params } = incoming;
            if (sdk.isOpen) sdk.deliver({ jsonrpc: '2.0', method, ...(params === undefined ? {} : { params }) });
          }
          return;
        case 'request':
          if (incoming.method === 'initialize') {
            initialize(incoming, sink);
            return;
          }
          if (phase !== 'ready' && incoming.method !== 'ping') {
            if (phase === 'initializing') await within(ready.promise, options.initializedGraceMs ?? 0);
            // Read again: the phase may have changed while this waited.
            if ((phase as string) !== 'ready') {
              sink.answer(errorAnswer(incoming.id, invalidRequest, 'Server not initialized'));
              return;
            }
          }
          take(incoming, sink);
      }
    },
    keepCancellable(innerId, cancelLate) {
      const request = pending.get(Number(innerId));
      if (request === undefined) return () => {};
      const { key } = request.id;
      late.set(key, cancelLate);
      return () => {
        if (late.get(key) === cancelLate) late.delete(key);
      };
    },
    async close() {
      server?.close();
      await sdk.close();
      const unanswered = [...pending.values()];
      pending.clear();
      for (const { sink, cancel: abort } of unanswered) {
        abort?.();
        sink.dropped();
      }
    },
  };
}

/** The SDK's answer, with the client's own id and the error code of its revision. */
function outward(message: object, id: WireId): object {
  if (!('error' in message)) return { ...message, id: id.value };
  const error = message.error as { code: number };
  return { ...message, id: id.value, error: { ...error, code: codeOnWire(error.code) } };
}

export function idKey(value: unknown): string | undefined {
  if (typeof value === 'string') return `s:${value}`;
  return typeof value === 'number' ? `n:${value}` : undefined;
}

/** What `initialize` must carry; what clients often forget and nothing depends on is filled in. A string names the fault. */
function readInitialize(params: Record<string, unknown> = {}): Record<string, unknown> | string {
  const { protocolVersion, capabilities = {}, clientInfo } = params;
  if (typeof protocolVersion !== 'string') return 'protocolVersion must be a string such as "2025-11-25".';
  if (typeof capabilities !== 'object' || capabilities === null) return 'capabilities must be an object.';
  if (clientInfo !== undefined && (typeof clientInfo !== 'object' || clientInfo === null)) {
    return 'clientInfo must be an object with name and version.';
  }
  return { ...params, capabilities, clientInfo: { name: 'unknown', version: '0', ...clientInfo } };
}

async function within(event: Promise<void>, ms: number): Promise<void> {
  if (ms <= 0) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([event, promise]);
  clearTimeout(timer);
}
