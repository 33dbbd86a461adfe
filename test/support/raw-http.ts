import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { initializeParams, type Message } from './stdio-client.ts';

export interface RawAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** The JSON body, or every message of an event stream. */
  messages: Message[];
}

export interface RawRequest {
  method?: string;
  headers?: Record<string, string | string[]>;
  body?: string | Buffer;
  agent?: Agent;
  signal?: AbortSignal;
}

/** Sends an HTTP request unchanged, with only Content-Length added, and returns the answer. */
export function exchange(url: string, { method = 'POST', headers = {}, body, agent, signal }: RawRequest = {}) {
  return new Promise<RawAnswer>((resolve, reject) => {
    const request = httpRequest(
      url,
      { method, headers, ...(agent ? { agent } : { agent: false }), ...(signal ? { signal } : {}) },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (part: string) => {
          text += part;
        });
        response.on('error', reject);
        response.on('end', () => {
          const { statusCode: status = 0, headers: responseHeaders } = response;
          resolve({
            status,
            headers: responseHeaders,
            text,
            messages: readMessages(responseHeaders['content-type'] ?? '', text),
          });
        });
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

export const jsonHeaders = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

export function post(url: string, message: unknown, headers: Record<string, string> = {}, options: RawRequest = {}) {
  const body = typeof message === 'string' ? message : JSON.stringify(message);
  return exchange(url, { ...options, body, headers: { ...jsonHeaders, ...headers } });
}

export interface RawSession {
  readonly id: string;
  readonly headers: Record<string, string>;
  send(message: unknown, options?: RawRequest): Promise<RawAnswer>;
  call(id: string | number, name: string, args?: object, meta?: object): Promise<RawAnswer>;
}

/** Opens a session with the handshake that revisions up to 2025-11-25 require. */
export async function openSession(url: string, revision = '2025-11-25', options: RawRequest = {}): Promise<RawSession> {
  const extraHeaders = (options.headers ?? {}) as Record<string, string>;
  const initialize = { jsonrpc: '2.0', id: 'handshake', method: 'initialize', params: initializeParams(revision) };
  const answer = await post(url, initialize, extraHeaders, options);
  const id = String(answer.headers['mcp-session-id']);
  const negotiated = String(answer.messages[0]?.result?.['protocolVersion']);
  const headers = { ...extraHeaders, 'mcp-session-id': id, 'mcp-protocol-version': negotiated };
  const send = (message: unknown, overrides: RawRequest = {}) =>
    post(url, message, headers, { ...options, ...overrides });
  await send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  return {
    id,
    headers,
    send,
    call: (requestId, name, args = {}, meta) => {
      const params = { name, arguments: args, ...(meta ? { _meta: meta } : {}) };
      return send({ jsonrpc: '2.0', id: requestId, method: 'tools/call', params });
    },
  };
}

export interface RawStream {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  messages(): Message[];
  /** Resolves when the server ends the stream. */
  ended: Promise<void>;
  close(): void;
}

/** Opens and records an event stream: a session's with GET, or a request's with POST and a body. */
export function openStream(url: string, headers: Record<string, string>, body?: unknown): Promise<RawStream> {
  const method = body === undefined ? 'GET' : 'POST';
  const accept = body === undefined ? { accept: 'text/event-stream' } : jsonHeaders;
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, headers: { ...accept, ...headers }, agent: false }, (response) => {
      const stream: RawStream = {
        status: response.statusCode ?? 0,
        headers: response.headers,
        text: '',
        messages: () => readMessages(response.headers['content-type'] ?? '', stream.text),
        ended: new Promise((end) => response.once('close', () => end())),
        close: () => void request.destroy(),
      };
      response.on('error', () => {});
      response.setEncoding('utf8').on('data', (part: string) => {
        stream.text += part;
      });
      resolve(stream);
    });
    request.on('error', reject);
    request.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Creates a request of revision 2026-07-28, with the headers that this revision requires. */
export function modernRequest(method: string, params: Record<string, unknown> = {}, id: string | number = 1) {
  const target = params['name'] ?? params['uri'] ?? params['taskId'];
  return {
    headers: {
      ...jsonHeaders,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(target === undefined ? {} : { 'mcp-name': String(target) }),
    },
    message: {
      jsonrpc: '2.0',
      id,
      method,
      params: {
        ...params,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': {},
          ...(params['_meta'] as object | undefined),
        },
      },
    },
  };
}

export function keepAliveAgent(sockets = 1): Agent {
  return new Agent({ keepAlive: true, maxSockets: sockets });
}

function readMessages(contentType: string, text: string): Message[] {
  if (contentType.startsWith('text/event-stream')) {
    return [...text.matchAll(/^data: (.+)$/gm)].map(([, data = '']) => JSON.parse(data));
  }
  if (!contentType.startsWith('application/json') || text === '') return [];
  const parsed: Message | Message[] = JSON.parse(text);
  return Array.isArray(parsed) ? parsed : [parsed];
}
