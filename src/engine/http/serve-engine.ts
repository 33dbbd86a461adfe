import type { IncomingMessage, ServerResponse } from 'node:http';
import { asCaller } from '../../base/current-caller.ts';
import { CarrelError, type ErrorKind, isCarrelError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { fullRights } from '../../base/rights.ts';
import { encodedProblem, isEncoded } from '../../http/body.ts';
import { clientAddress } from '../../http/client-address.ts';
import { createGuards, type GuardOptions } from '../../http/guards.ts';
import { fileTimeoutMs, type ListenLimits, listen } from '../../http/listen.ts';
import { answerMetrics, statusOf } from '../../http/metrics.ts';
import { createPrincipalWatch } from '../../http/principal-watch.ts';
import { refuseUnread, respondJson } from '../../http/respond.ts';
import type { Recorder } from '../../telemetry/recorder.ts';
import { type EngineRole, engineRoles } from '../engine-slice.ts';
import { renderRoles } from '../local/render.ts';
import type { LocalEngine } from '../local/submit.ts';
import { createRoutes } from './routes.ts';

export interface EngineServiceOptions extends GuardOptions {
  readonly port: number;
  /** The path prefix of all routes, such as `/api/v1`. */
  readonly path: string;
  readonly fileBytesMax: number;
  readonly answerBytesMax: number;
  readonly readOnly: boolean;
  /** The engine's roles; all by default. */
  readonly roles?: readonly EngineRole[];
  readonly log: Logger;
  readonly metrics?: () => Promise<string>;
  readonly recorder?: Recorder;
  readonly listenLimits?: Partial<ListenLimits>;
}

/** Serves the engine's API over HTTP. Checks the guards first, then the path, the method and the body. */
export async function serveEngine(options: EngineServiceOptions) {
  const { path: base, log, recorder } = options;
  const guards = createGuards(options);
  const watch = createPrincipalWatch(guards);
  const routes = createRoutes(options);
  let engine: LocalEngine | undefined;

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const refusal = guards.checkSite(request);
    if (refusal) {
      const code = refusal.status === 400 ? 'bad_request' : 'forbidden';
      return refuse(response, refusal.status, code, refusal.problem);
    }
    const url = URL.parse(request.url ?? '', 'http://engine');
    const path = url?.pathname ?? '';
    if (path === '/health' || path === `${base}/health`)
      return health(request, response, engine !== undefined, options.roles ?? engineRoles);
    const access = await guards.checkToken(request);
    if (!('principal' in access)) {
      const code = access.status === 429 ? 'too_many_requests' : 'unauthorized';
      return refuse(response, access.status, code, access.problem, access.headers);
    }
    const { rights } = access.principal ?? { rights: fullRights };
    const { toolsets, collections, readOnly: isReadOnly = false } = rights;
    if (toolsets !== undefined && !toolsets.includes('kb')) {
      return refuse(
        response,
        403,
        'forbidden',
        'This token is not for the knowledge base. Use one that includes the kb toolset.',
      );
    }
    // If the client has already disconnected, `close` will not fire again, and the watch would never end.
    if (response.destroyed) return;
    // Stops the response, such as a long download, when the token is revoked or expires.
    response.once(
      'close',
      watch.add(access.principal, () => response.destroy()),
    );
    if (path === '/metrics' && options.metrics)
      return answerMetrics(request, response, access.principal, options.metrics);
    if (engine === undefined) {
      return refuse(response, 503, 'starting', 'The engine is starting. Try again in a moment.', {
        'retry-after': '1',
      });
    }
    const found = path.startsWith(`${base}/`) ? routes.find(path.slice(base.length)) : undefined;
    if (url === null || found === undefined) {
      return refuse(response, 404, 'not_found', `Nothing is served under this path. The API is under ${base}.`);
    }
    // HEAD is answered like GET; Node omits the body.
    const run = found.methods[request.method === 'HEAD' ? 'GET' : (request.method ?? '')];
    const allow = Object.keys(found.methods).map(withHead).join(', ');
    if (run === undefined) {
      return refuse(response, 405, 'method_not_allowed', `This path accepts ${allow}.`, { allow });
    }
    if (isEncoded(request)) {
      return refuse(response, 415, 'unsupported_media_type', encodedProblem, { 'accept-encoding': 'identity' });
    }
    const disconnected = new AbortController();
    response.once('close', () => disconnected.abort());
    const visible = collections === undefined ? engine : engine.scopedTo(collections);
    const caller = access.principal?.identity ?? `address ${clientAddress(request.socket.remoteAddress)}`;
    const call = {
      request,
      response,
      engine: visible,
      query: url.searchParams,
      id: found.id,
      isReadOnly,
      signal: disconnected.signal,
    };
    await asCaller(caller, () => run(call));
  };

  const listener = await listen(
    options.host,
    options.port,
    (request, response) => {
      if (recorder) response.once('close', () => recorder.httpAnswer(routeName(request, base), statusOf(response)));
      handle(request, response).catch((error: unknown) => respondError(request, response, error, log));
    },
    {
      bodyTimeoutMs: () => fileTimeoutMs,
      onError: (error) => log.warn('connection rejected', { error }),
      onRefused: () => recorder?.connectionRefused(),
      ...(options.listenLimits ? { limits: options.listenLimits } : {}),
    },
  );
  return {
    url: `${listener.origin}${base}`,
    /** Starts serving requests. Until then only the health check answers, with `starting`. */
    ready(opened: LocalEngine): void {
      engine = opened;
    },
    connections: listener.connections,
    async close(graceMs: number): Promise<void> {
      await listener.close(graceMs);
      watch.close();
    },
  };
}

/** Returns the route's name for metrics, one of four. */
function routeName({ url = '' }: IncomingMessage, base: string): string {
  const [path = ''] = url.split('?', 1);
  if (path === '/metrics') return 'metrics';
  if (path === '/health' || path === `${base}/health`) return 'health';
  return path.startsWith(`${base}/`) ? 'api' : 'other';
}

const withHead = (method: string): string => (method === 'GET' ? 'GET, HEAD' : method);

function health(
  request: IncomingMessage,
  response: ServerResponse,
  isReady: boolean,
  roles: readonly EngineRole[],
): void {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    refuse(response, 405, 'method_not_allowed', 'This path accepts GET and HEAD.', { allow: 'GET, HEAD' });
  } else if (isReady) {
    respondJson(response, 200, { status: 'healthy', ...renderRoles(roles) });
  } else {
    respondJson(response, 503, { status: 'starting' }, { 'retry-after': '1' });
  }
}

function refuse(
  response: ServerResponse,
  status: number,
  error: string,
  detail: string,
  headers: Record<string, string> = {},
): void {
  refuseUnread(response, status, { error, detail }, headers);
}

/** HTTP statuses of error codes that differ from the status of their kind. */
const statusOfCode: Readonly<Record<string, number>> = {
  empty_selection: 400,
  malformed_body: 400,
  duplicate: 409,
  safety_threshold_exceeded: 409,
  too_large: 413,
  unsupported_media_type: 415,
  role_missing: 501,
  storage_full: 507,
};

const statusOfKind: Readonly<Record<ErrorKind, number>> = {
  input: 422,
  not_found: 404,
  limit: 503,
  forbidden: 403,
  upstream: 503,
  timeout: 504,
  // The client has disconnected, so nobody reads it.
  cancelled: 503,
  config: 500,
  internal: 500,
};

/** Sends an error as `{"error": code, "detail": message}`, with its data. */
function respondError(request: IncomingMessage, response: ServerResponse, thrown: unknown, log: Logger): void {
  if (response.destroyed) return;
  if (response.headersSent) {
    // The answer has started and cannot be completed. Destroying it shows the client that it is incomplete.
    log.warn('a response was interrupted', { path: request.url });
    response.destroy();
    return;
  }
  const error = isCarrelError(thrown) ? thrown : unexpected(thrown, request, log);
  const status = statusOfCode[error.code] ?? statusOfKind[error.kind];
  const { retryAfterSeconds } = error;
  const headers: Record<string, string> =
    status === 503 ? { 'retry-after': String(Math.max(1, Math.ceil(retryAfterSeconds ?? 1))) } : {};
  refuseUnread(response, status, { error: error.code, detail: error.message, ...error.data }, headers);
}

function unexpected(error: unknown, request: IncomingMessage, log: Logger): CarrelError {
  const incident = log.incident('http request failed', error, { path: request.url });
  return new CarrelError('internal', `Internal error. The log has the details under incident ${incident}.`);
}
