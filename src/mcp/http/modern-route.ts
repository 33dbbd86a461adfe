import type { IncomingMessage, ServerResponse } from 'node:http';
import { createMcpHandler, type Server } from '@modelcontextprotocol/server';
import type { Logger } from '../../base/log.ts';
import { commonHeaders, respondJson } from '../../http/respond.ts';
import type { Caller } from '../../tools/call.ts';
import type { Conversation } from '../conversation.ts';
import type { Listen, Listening } from '../listen.ts';
import { errorAnswer, type Incoming } from '../messages.ts';
import type { Era } from '../protocol-versions.ts';
import { type EventStream, openEventStream } from './event-stream.ts';
import { findParamHeaderFault, headerMismatch } from './param-headers.ts';

export interface ModernRouteOptions {
  log: Logger;
  createServer(era: Era, caller: Caller, conversation: Conversation | undefined): Server;
  /** The schema of a tool's arguments, as `tools/list` shows it. */
  inputSchema(tool: string, caller: Caller): object | undefined;
  listen: Listen;
}

export interface ModernMessage {
  parsed: unknown;
  incoming: Incoming[];
}

export interface ModernRoute {
  handle(request: IncomingMessage, response: ServerResponse, message: ModernMessage, caller: Caller): Promise<void>;
  close(): Promise<void>;
}

/**
 * Requests of 2026-07-28, each served by a server object of its own. The SDK's handler owns the rules of that revision
 * (headers against body, which error gets which status); this only passes requests in and answers out. Subscriptions are
 * ours, once the handler has found nothing wrong with the request.
 */
export function createModernRoute({ log, createServer, inputSchema, listen }: ModernRouteOptions): ModernRoute {
  const handler = createMcpHandler(
    ({ authInfo }) => {
      const { caller, admit } = (authInfo?.extra ?? {}) as unknown as { caller: Caller; admit: () => void };
      admit();
      return createServer('modern', caller, undefined);
    },
    { legacy: 'reject', maxSubscriptions: 0, onerror: (error) => log.debug('protocol', { error }) },
  );

  const openListen = async (response: ServerResponse, incoming: Incoming & { kind: 'request' }, caller: Caller) => {
    let stream: EventStream | undefined;
    let listening: Listening | undefined;
    const outcome = await listen.open({
      id: incoming.id,
      params: incoming.params ?? {},
      caller,
      send(message) {
        stream ??= openEventStream(response, {}, () => listening?.drop());
        stream.send(message);
      },
      end: () => stream?.end(),
    });
    if ('refusal' in outcome) respondJson(response, 400, outcome.refusal);
    else {
      listening = outcome.listening;
      if (response.destroyed) listening.drop();
    }
  };

  return {
    async handle(request, response, { parsed, incoming }, caller) {
      const [first] = incoming;
      if (first?.kind === 'request' && first.method === 'tools/call') {
        const { name, arguments: given } = first.params ?? {};
        const fault = findParamHeaderFault(inputSchema(String(name), caller), given, request.headers);
        if (fault !== undefined) {
          respondJson(response, 400, errorAnswer(first.id, headerMismatch, fault));
          return;
        }
      }
      // In this revision closing the response stream is how a client cancels.
      const controller = new AbortController();
      response.on('close', () => {
        if (!response.writableFinished) controller.abort();
      });
      let admitted = false;
      const admit = (): void => {
        admitted = true;
      };
      const answer = await handler.fetch(toWebRequest(request, controller.signal), {
        parsedBody: parsed,
        authInfo: { token: '', clientId: caller.id, scopes: [], extra: { caller, admit } },
      });
      if (admitted && first?.kind === 'request' && first.method === 'subscriptions/listen') {
        await answer.body?.cancel();
        await openListen(response, first, caller);
        return;
      }
      await sendWebResponse(answer, response);
    },
    async close() {
      listen.close();
      await handler.close();
    },
  };
}

const forwarded = ['content-type', 'accept', 'mcp-protocol-version', 'mcp-method', 'mcp-name'];

/**
 * What the handler looks at in a request whose body it is given: the method, headers and the signal. A whole `Request` with
 * `Headers` of its own would cost as much as the call itself.
 */
function toWebRequest({ headers }: IncomingMessage, signal: AbortSignal): Request {
  const get = (name: string): string | null => {
    const lower = name.toLowerCase();
    const value = headers[lower];
    if (typeof value !== 'string') return null;
    return forwarded.includes(lower) || lower.startsWith('mcp-param-') ? value : null;
  };
  const read = { method: 'POST', url: 'http://localhost/mcp', body: null, signal, headers: { get } };
  return read as unknown as Request;
}

async function sendWebResponse(answer: Response, response: ServerResponse): Promise<void> {
  if (response.destroyed) {
    await answer.body?.cancel();
    return;
  }
  const headers = { ...Object.fromEntries(answer.headers), ...commonHeaders };
  // Only a stream is worth sending in parts.
  if (answer.body === null || answer.headers.get('content-type') === 'application/json') {
    const body = Buffer.from(await answer.arrayBuffer());
    response.writeHead(answer.status, { ...headers, 'content-length': body.length }).end(body);
    return;
  }
  response.writeHead(answer.status, headers);
  response.flushHeaders();
  const reader = answer.body.getReader();
  response.on('close', () => void reader.cancel().catch(() => {}));
  for (;;) {
    const { done, value } = await reader.read();
    if (done || response.destroyed) break;
    if (!response.write(value)) await drained(response);
  }
  response.end();
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    response.once('drain', resolve);
    response.once('close', resolve);
  });
}
