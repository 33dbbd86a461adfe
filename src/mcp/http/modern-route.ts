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
      response.on('close', () => controller.abort());
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

function toWebRequest(request: IncomingMessage, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (typeof value === 'string' && (forwarded.includes(name) || name.startsWith('mcp-param-')))
      headers.set(name, value);
  }
  return new Request('http://localhost/mcp', { method: 'POST', headers, signal });
}

async function sendWebResponse(answer: Response, response: ServerResponse): Promise<void> {
  if (response.destroyed) {
    await answer.body?.cancel();
    return;
  }
  response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), ...commonHeaders });
  if (answer.body === null) {
    response.end();
    return;
  }
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
