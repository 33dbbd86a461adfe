import type {
  JSONRPCMessage,
  MessageExtraInfo,
  Server,
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/server';

type Params = Record<string, unknown>;

export interface SdkLinkOptions {
  readonly sessionId?: string | undefined;
  /** Marks the ids of the server's requests to the client, where its answers may reach another process first. */
  readonly tag?: string | undefined;
  create(): Promise<Server>;
  /** The parameters of a handshake that was answered without the SDK's server. */
  handshake(): Params | undefined;
  agreed(revision: string): void;
  /** What the server says on its own; the request is the one that it belongs to. */
  tell(message: object, request: string | number | undefined): void;
  answer(request: number, message: object): void;
}

/** The way to the SDK's server of one conversation, which is not loaded before something is for it. */
export interface SdkLink {
  readonly isOpen: boolean;
  /** The server, as if it had heard all of the conversation. */
  open(): Promise<Server>;
  deliver(message: object, extra?: MessageExtraInfo): void;
  /** The client's answer to a request of the server. */
  deliverAnswer(message: object): void;
  close(): Promise<void>;
}

/** Of the handshake that the SDK's server has not heard. The conversation counts its requests from 1. */
const repeatedId = 0;

export function createSdkLink(options: SdkLinkOptions): SdkLink {
  let opened: Promise<Server> | undefined;
  let isClosed = false;
  const repeated = Promise.withResolvers<void>();

  const transport: Transport = {
    sessionId: options.sessionId,
    async start() {},
    async send(message, sendOptions) {
      send(message, sendOptions);
    },
    async close() {
      transport.onclose?.();
    },
    setProtocolVersion: options.agreed,
  };

  const send = (message: JSONRPCMessage, sendOptions?: TransportSendOptions): void => {
    if ('method' in message) {
      options.tell(marked(message, options.tag), sendOptions?.relatedRequestId);
      return;
    }
    const request = Number(message.id);
    if (request === repeatedId) repeated.resolve();
    else options.answer(request, message);
  };

  const hand = (message: object, extra?: MessageExtraInfo): void =>
    transport.onmessage?.(message as JSONRPCMessage, extra);

  const connect = async (): Promise<Server> => {
    const server = await options.create();
    await server.connect(transport);
    const params = options.handshake();
    if (params !== undefined) {
      hand({ jsonrpc: '2.0', id: repeatedId, method: 'initialize', params });
      await repeated.promise;
      hand({ jsonrpc: '2.0', method: 'notifications/initialized' });
    }
    return server;
  };

  const open = (): Promise<Server> => {
    opened ??= connect();
    return opened;
  };

  const deliver = (message: object, extra?: MessageExtraInfo): void => {
    void open().then(() => {
      // While the SDK was loaded, the client may have gone.
      if (!isClosed) hand(message, extra);
    });
  };

  return {
    get isOpen() {
      return opened !== undefined;
    },
    open,
    deliver,
    deliverAnswer(message) {
      const own = unmarked(message, options.tag);
      if (own) deliver(own);
    },
    async close() {
      isClosed = true;
      await transport.close();
    },
  };
}

/** A request, or the word that it is given up. */
function marked(
  message: { method: string; id?: string | number; params?: Params | undefined },
  tag: string | undefined,
): object {
  if (tag === undefined) return message;
  if (message.id !== undefined) return { ...message, id: `${tag}:${message.id}` };
  const requestId = message.params?.['requestId'];
  if (message.method !== 'notifications/cancelled' || requestId === undefined) return message;
  return { ...message, params: { ...message.params, requestId: `${tag}:${String(requestId)}` } };
}

/** Undefined for an answer to another process's request. */
function unmarked(message: object, tag: string | undefined): object | undefined {
  if (tag === undefined) return message;
  const id = 'id' in message ? String(message.id) : '';
  return id.startsWith(`${tag}:`) ? { ...message, id: Number(id.slice(tag.length + 1)) } : undefined;
}
