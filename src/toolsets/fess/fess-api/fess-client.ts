import { CarrelError } from '../../../base/errors.ts';
import { createServiceClient, ServiceFailure } from '../../../http/service-client.ts';
import { fessError, fessTimeout, fessUnreachable } from './fess-errors.ts';
import type { FessResponse } from './fess-response.ts';

export interface FessClientConfig {
  /** Scheme, host and context path of the server, as the operator wrote it. */
  baseUrl: string;
  accessToken?: string;
  userAgent: string;
  timeoutMs: number;
  /** Longer answers are refused before they are read to the end. */
  answerBytesMax?: number;
}

export interface FessClient {
  /** One GET. Follows no redirect, so that the token and the answer stay with the configured server. */
  get(endpoint: string, params: URLSearchParams, options?: FessRequestOptions): Promise<FessResponse>;
  close(): void;
}

export interface FessRequestOptions {
  signal?: AbortSignal;
  bytesMax?: number;
}

const answerBytesMaxDefault = 32 * 1024 * 1024;

export function createFessClient(config: FessClientConfig): FessClient {
  const client = createServiceClient({
    baseUrl: config.baseUrl,
    headers: requestHeaders(new URL(config.baseUrl), config),
    timeoutMs: config.timeoutMs,
    answerBytesMax: config.answerBytesMax ?? answerBytesMaxDefault,
  });
  return {
    async get(endpoint, params, { signal, bytesMax } = {}) {
      const asked = {
        method: 'GET',
        path: endpoint,
        query: params,
        signal,
        answerBytesMax: bytesMax,
        repeatable: true,
      };
      const { status, headers, body } = await client.request(asked).catch((error: unknown) => {
        throw explain(error, endpoint, config.timeoutMs);
      });
      return {
        status,
        contentType: headers['content-type'] ?? '',
        location: headers.location,
        retryAfter: headers['retry-after'],
        body,
        endpoint,
      };
    },
    close: () => client.close(),
  };
}

function explain(error: unknown, endpoint: string, timeoutMs: number): unknown {
  if (!(error instanceof ServiceFailure)) return error;
  const httpStatus = error.status ?? 0;
  switch (error.fault) {
    case 'cancelled':
      return new CarrelError('cancelled', 'The call was cancelled.');
    case 'timeout':
      return fessTimeout(endpoint, timeoutMs);
    case 'unreachable':
      return fessUnreachable(endpoint, error.cause);
    case 'too_large':
      return fessError('answer_too_large', { endpoint, httpStatus });
    case 'incomplete':
      return fessError('answer_incomplete', { endpoint, httpStatus, cause: error.cause });
  }
}

function requestHeaders(base: URL, { accessToken, userAgent }: FessClientConfig): Record<string, string> {
  const headers: Record<string, string> = {
    accept: 'application/json, text/html;q=0.5, */*;q=0.1',
    'accept-encoding': 'identity',
    'user-agent': userAgent,
  };
  const login = `${decodeURIComponent(base.username)}:${decodeURIComponent(base.password)}`;
  if (accessToken !== undefined) headers['authorization'] = `Bearer ${accessToken}`;
  else if (base.username !== '') headers['authorization'] = `Basic ${Buffer.from(login).toString('base64')}`;
  return headers;
}
