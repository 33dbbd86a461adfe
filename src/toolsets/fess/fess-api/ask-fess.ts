import { CarrelError } from '../../../base/errors.ts';
import type { FessCallOptions, FessHealth } from './fess-api.ts';
import type { FessClient } from './fess-client.ts';
import type { FessDialect } from './fess-dialect.ts';
import { faultOf, fessError, isRecord } from './fess-errors.ts';
import { jsonObject, statusError } from './fess-response.ts';

/** A server, and the API generation to use with it. */
export interface FessServer {
  client: FessClient;
  dialect: FessDialect;
  /** It has treated the label as optional before, so it gets the strict form right away. */
  isLoose: boolean;
  onLoose: () => void;
}

/**
 * The body of an answer, without its envelope. With its engine down Fess may answer 400, as for a query that it can't parse,
 * and suggest answers 500: health tells which it was.
 */
export async function askFess(
  server: FessServer,
  endpoint: string,
  params: URLSearchParams,
  options?: FessCallOptions,
): Promise<{ body: Record<string, unknown>; httpStatus: number }> {
  const response = await server.client.get(endpoint, params, options);
  const { status } = response;
  if (status === 400 || status >= 500) await ruleOutOutage(server, endpoint, options).catch(rethrowOutage);
  return { body: server.dialect.open(jsonObject(response), endpoint), httpStatus: status };
}

/** 503 is the answer for red, not a failure. v2 writes the status in upper case and does not say `timed_out`. */
export async function askHealth({ client, dialect }: FessServer, options?: FessCallOptions): Promise<FessHealth> {
  const endpoint = dialect.health;
  const response = await client.get(endpoint, new URLSearchParams(), options);
  const httpStatus = response.status;
  if (httpStatus === 500) {
    const failure = statusError(response);
    throw fessError('engine_down', { endpoint, httpStatus, errorId: errorIdOf(failure), cause: failure.cause });
  }
  const found = dialect.openHealth(jsonObject(response, [503]));
  const status = isRecord(found) ? String(found['status']).toLowerCase() : undefined;
  if (status === 'green' || status === 'yellow' || status === 'red') {
    return { status, timedOut: isRecord(found) && found['timed_out'] === true };
  }
  throw fessError(httpStatus === 503 ? 'server_failed' : 'unexpected_shape', { endpoint, httpStatus });
}

/**
 * A Fess whose engine is down finds nothing and answers 200; only health tells the truth. True if the engine is up,
 * false if the server does not tell; throws if it is down. The error names the endpoint that was asked, and the status that
 * health answered, since that is what shows the outage.
 */
export async function ruleOutOutage(server: FessServer, endpoint: string, options?: FessCallOptions): Promise<boolean> {
  try {
    const { status } = await askHealth(server, options);
    if (status !== 'red') return true;
  } catch (error) {
    const fault = faultOf(error);
    if (fault !== undefined && silentFaults.has(fault)) return false;
    if (!(error instanceof CarrelError)) throw error;
    if (fault !== 'engine_down' && fault !== 'server_failed') throw atEndpoint(error, endpoint);
    const httpStatus = Number(error.data['httpStatus']);
    throw fessError('engine_down', { endpoint, httpStatus, errorId: errorIdOf(error), cause: error.cause });
  }
  throw fessError('engine_down', { endpoint, httpStatus: 503 });
}

/** We may not ask for health, or don't know its form: no reason to withhold what another endpoint answered. */
const silentFaults: ReadonlySet<unknown> = new Set([
  'refused_token',
  'refused_address',
  'rate_limited',
  'api_missing',
  'not_json',
  'unexpected_shape',
  'other_status',
]);

/** If health can't be reached either, the original failure stands. */
function rethrowOutage(error: unknown): void {
  if (faultOf(error) === 'engine_down' || (error instanceof CarrelError && error.code === 'cancelled')) throw error;
}

function errorIdOf({ data }: CarrelError): string | undefined {
  return typeof data['errorId'] === 'string' ? data['errorId'] : undefined;
}

function atEndpoint(error: CarrelError, endpoint: string): CarrelError {
  return new CarrelError(error.code, error.message, { cause: error, data: { ...error.data, endpoint } });
}
