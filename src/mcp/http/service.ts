import type { IncomingMessage, ServerResponse } from 'node:http';
import { fullRights, isUnrestricted, type Principal } from '../../base/rights.ts';
import { clientAddress } from '../../http/client-address.ts';
import { createGuards, type GuardOptions } from '../../http/guards.ts';
import { fileTimeoutMs, type HttpListener, type ListenLimits, listen } from '../../http/listen.ts';
import { answerMetrics, statusOf } from '../../http/metrics.ts';
import { createPrincipalWatch } from '../../http/principal-watch.ts';
import { refuseUnread, respondJson } from '../../http/respond.ts';
import type { SecretRoute } from '../../tools/toolset.ts';
import { answerSecretRoute } from './answer-secret-route.ts';
import { createEndpoint, type EndpointOptions } from './endpoint.ts';
import { rpcProblem } from './read-messages.ts';
import { createSsePair } from './sse-pair.ts';
import type { Visitor } from './visitor.ts';

export interface HttpServiceOptions extends Omit<EndpointOptions, 'watch'>, Omit<GuardOptions, 'log'> {
  port: number;
  path: string;
  listenLimits?: Partial<ListenLimits>;
  /** Returns the body of `GET /health`. The path needs no token, but its details do. */
  health(detailed: boolean): Record<string, unknown>;
  /** OAuth resource metadata (RFC 9728) and its path. */
  resource?: { readonly path: string; readonly metadata: object } | undefined;
  /** Paths that need no token because they contain a secret. */
  secretRoutes?: readonly SecretRoute[];
  /** Serves pages for people, with their own sign-in. Returns false for paths that are not pages. */
  pages?: PageHandler;
  /** Returns the text for `GET /metrics`, in Prometheus's format. */
  metrics?: () => Promise<string>;
}

export type PageHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  auth: {
    address: string;
    /** Returns the caller that the request's token proves; no principal if no token is required. Undefined if access is denied. */
    access(): Promise<{ principal: Principal | undefined } | undefined>;
    checkToken(token: string): Promise<{ principal: Principal | undefined } | 'wrong' | 'too many'>;
    /** True if the principal's token is still valid. */
    isValid(principal: Principal): Promise<boolean>;
  },
) => Promise<boolean>;

export interface HttpService {
  readonly url: string;
  /** Number of open sessions. */
  sessions(): number;
  connections(): number;
  close(graceMs: number): Promise<void>;
}

const shutdownDelayMs = 50;

const namedRoutes: Readonly<Record<string, string>> = {
  '/health': 'health',
  '/metrics': 'metrics',
  '/sse': 'sse',
  '/messages': 'sse',
};

export async function serveHttp(options: HttpServiceOptions): Promise<HttpService> {
  const { recorder } = options;
  const guards = createGuards(options);
  const watch = createPrincipalWatch(guards);
  const endpoint = createEndpoint({ ...options, watch });
  const ssePair =
    options.revisions.cody && options.streams !== false
      ? createSsePair({
          limits: options.limits,
          connectionsMax: options.sessions.sessionsMax,
          perCallerMax: options.sessions.perCallerMax ?? options.sessions.sessionsMax,
          openConversation: options.openConversation,
        })
      : undefined;

  /** Returns the route's name for metrics. */
  const routeName = (request: IncomingMessage, response: ServerResponse): string => {
    const path = pathOf(request);
    if (path === options.path) return 'mcp';
    if (secretRouteOf(request)) return 'upload';
    return namedRoutes[path] ?? (options.pages && response.statusCode !== 404 ? 'console' : 'other');
  };

  const secretRouteOf = ({ url = '' }: IncomingMessage): SecretRoute | undefined =>
    options.secretRoutes?.find(({ pathPrefix }) => url.startsWith(pathPrefix));

  const pageAuthOf = (request: IncomingMessage) => ({
    address: clientAddress(request.socket.remoteAddress),
    async access() {
      const access = await guards.checkToken(request);
      return 'principal' in access ? access : undefined;
    },
    async isValid(principal: Principal) {
      const [valid] = await guards.areValid([principal]);
      return valid === true;
    },
    async checkToken(token: string) {
      const access = await guards.checkTyped(token, request);
      if ('principal' in access) return access;
      return access.status === 429 ? ('too many' as const) : ('wrong' as const);
    },
  });

  const isResourcePath = (path: string): boolean =>
    options.resource !== undefined &&
    (path === options.resource.path || path === `${options.resource.path}${options.path}`);

  const route = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const siteRefusal = guards.checkSite(request);
    if (siteRefusal) {
      refuseUnread(response, siteRefusal.status, rpcProblem(siteRefusal.problem));
      return;
    }
    const path = pathOf(request);
    const secretRoute = secretRouteOf(request);
    if (secretRoute) {
      await answerSecretRoute(secretRoute, request, response);
      return;
    }
    if (isResourcePath(path) && (request.method === 'GET' || request.method === 'HEAD')) {
      respondJson(response, 200, options.resource?.metadata ?? {});
      return;
    }
    // MCP takes precedence, if its configured path is also the path of a page.
    if (path !== options.path && options.pages && (await options.pages(request, response, pageAuthOf(request)))) return;
    const access = await guards.checkToken(request);
    if (path === '/health' && (request.method === 'GET' || request.method === 'HEAD')) {
      const isTrusted = 'principal' in access && isUnrestricted(access.principal?.rights ?? fullRights);
      respondJson(response, 200, options.health(isTrusted));
      return;
    }
    if (!('principal' in access)) {
      refuseUnread(response, access.status, rpcProblem(access.problem), access.headers);
      return;
    }
    // If the client has already disconnected, `close` will not fire again, and the watch would never end.
    if (response.destroyed) return;
    const visitor: Visitor = {
      principal: access.principal,
      address: clientAddress(request.socket.remoteAddress),
      host: request.headers.host ?? '',
    };
    // Closes the stream when the token that opened it is revoked.
    response.once(
      'close',
      watch.add(access.principal, () => response.destroy()),
    );
    if (path === options.path) await endpoint.handle(request, response, visitor);
    else if (path === '/metrics' && options.metrics)
      await answerMetrics(request, response, access.principal, options.metrics);
    else if (ssePair && path === '/sse' && request.method === 'GET') await ssePair.open(response, visitor);
    else if (ssePair && path === '/messages' && request.method === 'POST')
      await ssePair.post(request, response, visitor);
    else refuseUnread(response, 404, rpcProblem(`Nothing is served at this path. MCP is at ${options.path}.`));
  };

  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    if (recorder) response.once('close', () => recorder.httpAnswer(routeName(request, response), statusOf(response)));
    route(request, response).catch((error: unknown) => {
      // The secret part of the path must not be logged.
      const loggedPath = secretRouteOf(request)?.pathPrefix ?? request.url;
      const incident = options.log.incident('http request failed', error, { path: loggedPath });
      respondJson(response, 500, rpcProblem(`Internal error. The log has the details under incident ${incident}.`));
    });
  };
  const listener: HttpListener = await listen(options.host, options.port, answer, {
    onError: (error) => options.log.warn('connection rejected', { error }),
    onRefused: () => recorder?.connectionRefused(),
    ...(options.listenLimits ? { limits: options.listenLimits } : {}),
    bodyTimeoutMs: (request) => (secretRouteOf(request) === undefined ? undefined : fileTimeoutMs),
  });

  return {
    url: `${listener.origin}${options.path}`,
    sessions: endpoint.sessions,
    connections: listener.connections,
    async close(graceMs) {
      const closed = listener.close(graceMs);
      // Waits a moment for requests that are nearly done. Then closes streams, which would otherwise keep their sockets open.
      await new Promise((resolve) => setTimeout(resolve, shutdownDelayMs));
      await endpoint.close();
      await ssePair?.close();
      watch.close();
      await closed;
    },
  };
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '';
}
