import type { IncomingMessage, ServerResponse } from 'node:http';
import { createMcpHandler } from '@modelcontextprotocol/server';
import type { Logger } from '../../base/log.ts';
import { commonHeaders, respondEmpty, respondJson } from '../../http/respond.ts';
import type { Caller } from '../../tools/call.ts';
import { errorAnswer, type Incoming } from '../messages/messages.ts';
import { modernRevisions } from '../protocol-versions.ts';
import type { DirectRequest, ModernAnswers, ModernProtocol } from '../sessions/modern-answers.ts';
import type { SubscriptionStream, SubscriptionStreams } from '../sessions/subscription-streams.ts';
import { rpcCodes } from '../wire-errors.ts';
import { type EventStream, openEventStream } from './event-stream.ts';
import { findParamHeaderFault } from './param-headers.ts';

export interface ModernRouteOptions {
  log: Logger;
  /** Returns a tool's input schema, as in `tools/list`. */
  inputSchema(tool: string, caller: Caller): object | undefined;
  subscriptions: SubscriptionStreams;
}

export interface ModernMessage {
  parsed: unknown;
  incoming: Incoming[];
}

export type ModernRoute = ReturnType<typeof createModernRoute>;

/**
 * Answers requests of 2026-07-28. Requests that are clearly valid are answered here. All others go to the SDK's handler, each
 * with its own server object: the handler knows that revision's rules, such as which error has which status. Subscriptions
 * are answered here, after the handler has accepted the request.
 */
export function createModernRoute({ log, inputSchema, subscriptions }: ModernRouteOptions, modern: ModernProtocol) {
  /** Requests answered without the SDK. */
  const running = new Set<AbortController>();
  const handler = createMcpHandler(
    ({ authInfo }) => {
      const { caller, accept } = (authInfo?.extra ?? {}) as unknown as { caller: Caller; accept: () => void };
      accept();
      return modern.serverFor(caller);
    },
    { legacy: 'reject', maxSubscriptions: 0, onerror: (error) => log.debug('protocol', { error }) },
  );

  const openSubscription = async (
    response: ServerResponse,
    incoming: Incoming & { kind: 'request' },
    caller: Caller,
  ) => {
    let stream: EventStream | undefined;
    let subscription: SubscriptionStream | undefined;
    const outcome = await subscriptions.open({
      id: incoming.id,
      params: incoming.params ?? {},
      caller,
      send(message) {
        stream ??= openEventStream(response, {}, () => subscription?.drop());
        stream.send(message);
      },
      end: () => stream?.end(),
    });
    if ('refusal' in outcome) respondJson(response, 400, outcome.refusal);
    else {
      subscription = outcome.subscription;
      if (response.destroyed) subscription.drop();
    }
  };

  const respond = async (
    answers: ModernAnswers,
    request: DirectRequest,
    response: ServerResponse,
    controller: AbortController,
  ): Promise<void> => {
    let stream: EventStream | undefined;
    running.add(controller);
    const answer = await answers
      .answer(request, controller.signal, (message) => {
        stream ??= openEventStream(response, {}, () => {});
        stream.send(message);
      })
      .finally(() => running.delete(controller));
    if (answer === undefined) {
      stream?.end();
      respondEmpty(response, closedStatus);
    } else if (stream) {
      stream.send(answer);
      stream.end();
    } else {
      const { error } = answer as { error?: { code: number } };
      respondJson(response, error?.code === rpcCodes.missingCapability ? 400 : 200, answer);
    }
  };

  return {
    async handle(
      request: IncomingMessage,
      response: ServerResponse,
      { parsed, incoming }: ModernMessage,
      caller: Caller,
    ): Promise<void> {
      const [first] = incoming;
      if (first?.kind === 'request' && first.method === 'tools/call') {
        const { name, arguments: args } = first.params ?? {};
        const fault = findParamHeaderFault(inputSchema(String(name), caller), args, request.headers);
        if (fault !== undefined) {
          respondJson(response, 400, errorAnswer(first.id, rpcCodes.headerMismatch, fault));
          return;
        }
      }
      // In this revision, closing the response stream cancels the request.
      const controller = new AbortController();
      response.on('close', () => {
        if (!response.writableFinished) controller.abort();
      });
      const answers = modern.answersFor(caller);
      const direct =
        first?.kind === 'request' && matchesHeaders(request, parsed, first) ? answers.read(first) : undefined;
      if (direct) {
        await respond(answers, direct, response, controller);
        return;
      }
      let isAccepted = false;
      const accept = (): void => {
        isAccepted = true;
      };
      const answer = await handler.fetch(toWebRequest(request, controller.signal), {
        parsedBody: parsed,
        authInfo: { token: '', clientId: caller.id, scopes: [], extra: { caller, accept } },
      });
      if (isAccepted && first?.kind === 'request' && first.method === 'subscriptions/listen') {
        await answer.body?.cancel();
        await openSubscription(response, first, caller);
        return;
      }
      await sendWebResponse(answer, response);
    },
    async close(): Promise<void> {
      subscriptions.close();
      for (const controller of running) controller.abort();
      await handler.close();
    },
  };
}

/** HTTP status after the client disconnected. Nobody reads it. */
const closedStatus = 499;

/** The parameter that the Mcp-Name header repeats, by method. */
const nameParams: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

const messageMembers = new Set(['jsonrpc', 'id', 'method', 'params']);

/** True if the headers match the body, and the body has no extra members. */
function matchesHeaders(
  { headers }: IncomingMessage,
  parsed: unknown,
  { method, params }: Incoming & { kind: 'request' },
): boolean {
  const { 'mcp-protocol-version': revision, 'mcp-method': headerMethod, 'mcp-name': name } = headers;
  if (headerMethod !== method || !(modernRevisions as readonly unknown[]).includes(revision)) return false;
  if (Object.keys(parsed as object).some((member) => !messageMembers.has(member))) return false;
  const field = Object.hasOwn(nameParams, method) ? nameParams[method] : undefined;
  // The SDK handles Base64-encoded names (`=?…`), for characters that are not allowed in headers.
  return field === undefined || (typeof name === 'string' && name === params?.[field] && !name.startsWith('=?'));
}

const forwardedHeaders = ['content-type', 'accept', 'mcp-protocol-version', 'mcp-method', 'mcp-name'];

/** Creates the part of a `Request` that the handler reads. A real one would double the time of a call. */
function toWebRequest({ headers }: IncomingMessage, signal: AbortSignal): Request {
  const get = (name: string): string | null => {
    const lower = name.toLowerCase();
    const value = headers[lower];
    if (typeof value !== 'string') return null;
    return forwardedHeaders.includes(lower) || lower.startsWith('mcp-param-') ? value : null;
  };
  const request = { method: 'POST', url: 'http://localhost/mcp', body: null, signal, headers: { get } };
  return request as unknown as Request;
}

async function sendWebResponse(answer: Response, response: ServerResponse): Promise<void> {
  if (response.destroyed) {
    await answer.body?.cancel();
    return;
  }
  const headers = { ...Object.fromEntries(answer.headers), ...commonHeaders };
  // Only event streams are sent in parts.
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
