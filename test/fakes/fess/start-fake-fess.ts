import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerV1 } from './api-v1.ts';
import { answerV2 } from './api-v2.ts';
import type { FakeLabel } from './callers.ts';
import type { FakeDocument } from './fake-document.ts';
import { type Fault, send, sendFaulty } from './faults.ts';
import type { FakeHealth, FessAnswer, FessRequest, FessState } from './fess-state.ts';
import { type RecordedRequest, recordRequest } from './recorded-request.ts';
import type { FakeWord } from './suggest-index.ts';
import { answerWeb, html, notFound } from './web-pages.ts';

export interface FakeFessOptions {
  /** 15.4 serves `/api/v1` only, 15.8 `/api/v2` only. */
  version: '15.4' | '15.8';
  documents?: readonly FakeDocument[];
  labels?: readonly FakeLabel[];
  words?: readonly FakeWord[];
  tokens?: Record<string, readonly string[]>;
  /** Path prefix of the server, for example `/fess`. */
  contextPath?: string;
  /** Additional response fields, such as `content` or `label`. */
  additionalFields?: readonly string[];
  outage?: FessState['outage'];
  scroll?: boolean;
  orSearchMinHitCount?: number;
  /** Simulates a plugin that loses the filters of every search. */
  dropsFilters?: boolean;
  /** True if facets include values without documents, even if not requested. */
  listsEmptyBuckets?: boolean;
  wrongTokenStatus?: FessState['wrongTokenStatus'];
  /** True if 15.8 has the plugin that restores `/api/v1`. */
  v1Plugin?: boolean;
  /** True if the operator has disabled the JSON API. */
  jsonDisabled?: boolean;
  port?: number;
}

export interface FakeFess {
  /** Address of the server with its context path, without a trailing slash. */
  url: string;
  requests: RecordedRequest[];
  /** Sets the faults; the first that applies to a request is used. Null clears all. */
  setFault(...faults: (Fault | null)[]): void;
  /** Releases the answers that the fault `hold` delays. */
  release(): void;
  setHealth(health: FakeHealth): void;
  setDocuments(documents: readonly FakeDocument[]): void;
  /** Changes the version of the running server, as an upgrade does. */
  setVersion(version: FakeFessOptions['version']): void;
  onRequest(listener: (request: RecordedRequest) => void): void;
  /** Waits for the next request with this text in its path or query. Earlier requests don't count. */
  nextRequest(containing?: string): Promise<RecordedRequest>;
  openSockets(): number;
  close(): Promise<void>;
}

/** Starts a fake Fess on a free loopback port. */
export async function startFakeFess(options: FakeFessOptions): Promise<FakeFess> {
  const contextPath = options.contextPath ?? '';
  const state = initialState(options);
  const current = { version: options.version };
  const events = new EventEmitter().setMaxListeners(0);
  const requests: RecordedRequest[] = [];
  let faults: Fault[] = [];
  let releaseGate = Promise.withResolvers<void>();

  // 0 keeps idle connections open. Otherwise, a client might reuse a connection that is just being closed.
  const server = createServer({ maxHeaderSize: 64 * 1024, keepAliveTimeout: 0 }, (message, response) => {
    const recorded = recordRequest(message, response);
    requests.push(recorded);
    events.emit('request', recorded);
    const request = toFessRequest(message, contextPath);
    const answer = () => route(state, request, { ...options, contextPath, version: current.version }, message);
    const fault = nextFault(faults, message);
    if (fault === undefined) return send(response, answer());
    const errorKey = state.is157OrLater ? 'error_code' : 'error_code:';
    void sendFaulty(fault, answer, response, { errorKey, released: releaseGate.promise });
  });
  const sockets = trackSockets(server);
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${contextPath}`,
    requests,
    setFault(...next) {
      faults = next.filter((fault) => fault !== null).map((fault) => ({ ...fault }));
    },
    release() {
      releaseGate.resolve();
      releaseGate = Promise.withResolvers<void>();
    },
    setHealth(health) {
      state.health = health;
    },
    setDocuments(documents) {
      state.documents = documents;
    },
    setVersion(version) {
      current.version = version;
      state.is157OrLater = version === '15.8';
    },
    onRequest(listener) {
      events.on('request', listener);
    },
    nextRequest(containing = '') {
      return new Promise((resolve) => {
        const listener = (request: RecordedRequest) => {
          if (!request.target.includes(containing)) return;
          events.off('request', listener);
          resolve(request);
        };
        events.on('request', listener);
      });
    },
    openSockets: () => sockets.size,
    async close() {
      releaseGate.resolve();
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

interface RouteOptions extends FakeFessOptions {
  contextPath: string;
}

function route(state: FessState, request: FessRequest, options: RouteOptions, message: IncomingMessage): FessAnswer {
  // Tomcat rejects long request lines and unencoded characters before Fess sees the request.
  if (Buffer.byteLength(message.url ?? '') > 8192 - 20 || /[[\]{}|"<>^`\\]/.test(message.url ?? '')) {
    return html(400, 'HTTP Status 400', 'Bad Request');
  }
  const isOutside = !(message.url ?? '').startsWith(options.contextPath);
  if (isOutside) return html(404, 'HTTP Status 404', 'Not Found');
  const { version, v1Plugin = false, jsonDisabled = false } = options;
  if (request.path.startsWith('/api/v1')) {
    const isServed = !jsonDisabled && (version === '15.4' || v1Plugin);
    return isServed ? answerV1(state, request) : notFound(request, options.contextPath);
  }
  if (request.path.startsWith('/api/v2')) {
    const isServed = !jsonDisabled && version === '15.8';
    return isServed ? answerV2(state, request) : notFound(request, options.contextPath);
  }
  return answerWeb(state, request, options.contextPath);
}

function initialState(options: FakeFessOptions): FessState {
  return {
    documents: options.documents ?? [],
    labels: options.labels ?? [],
    words: options.words ?? [],
    tokens: options.tokens ?? {},
    health: 'green',
    outage: options.outage ?? 'empty',
    additionalFields: options.additionalFields ?? [],
    is157OrLater: options.version === '15.8',
    scroll: options.scroll ?? false,
    popularWordsEnabled: true,
    orSearchMinHitCount: options.orSearchMinHitCount ?? -1,
    dropsFilters: options.dropsFilters ?? false,
    listsEmptyBuckets: options.listsEmptyBuckets ?? false,
    wrongTokenStatus: options.wrongTokenStatus ?? 401,
  };
}

function toFessRequest(message: IncomingMessage, contextPath: string): FessRequest {
  const { pathname, searchParams } = new URL(message.url ?? '/', 'http://fess.invalid');
  return {
    method: message.method ?? 'GET',
    path: pathname.slice(contextPath.length).replaceAll(/\/+/g, '/') || '/',
    params: searchParams,
    headers: message.headers,
  };
}

function nextFault(faults: Fault[], message: IncomingMessage): Fault | undefined {
  const fault = faults.find(({ path, times }) => times !== 0 && (message.url ?? '').includes(path ?? ''));
  if (fault?.times !== undefined) fault.times -= 1;
  return fault;
}

function trackSockets(server: Server): Set<NonNullable<ServerResponse['socket']>> {
  const sockets = new Set<NonNullable<ServerResponse['socket']>>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return sockets;
}
