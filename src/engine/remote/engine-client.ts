import { parseJson } from '../../base/json.ts';
import type { Secret } from '../../base/secret.ts';
import {
  createServiceClient,
  type ServiceAnswer,
  type ServiceContent,
  type ServiceRequest,
} from '../../http/service-client.ts';
import { answerError, failureError, type Meanings, shapeError } from './engine-errors.ts';

export interface EngineClientConfig {
  /** With or without `/api/v1`. */
  engineUrl: string;
  apiKey?: Secret | undefined;
  timeoutMs: number;
}

export interface EngineRequest extends Omit<ServiceRequest, 'body'> {
  json?: unknown;
  body?: ServiceRequest['body'];
  /** Statuses with a special meaning for this call. */
  meanings?: Meanings;
  /** Statuses outside 200 to 299 that are results, not errors. */
  accept?: readonly number[];
}

export interface EngineClient {
  /** The answer's JSON, converted by `read`. It is an error if `read` returns undefined. */
  ask<Result>(request: EngineRequest, read: (value: unknown, status: number) => Result | undefined): Promise<Result>;
  open(request: EngineRequest): Promise<ServiceContent>;
  close(): void;
}

const basePath = '/api/v1';
/** Large, because an engine that is not ours sends a document with all its chunks. */
const answerBytesMax = 128 * 1024 * 1024;

export function createEngineClient({ engineUrl, apiKey, timeoutMs }: EngineClientConfig): EngineClient {
  const trimmed = engineUrl.replace(/\/+$/, '');
  const client = createServiceClient({
    baseUrl: trimmed.endsWith(basePath) ? trimmed : `${trimmed}${basePath}`,
    headers: {
      accept: 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'carrel-kb',
      ...(apiKey ? { authorization: `Bearer ${apiKey.reveal()}` } : {}),
    },
    timeoutMs,
    answerBytesMax,
  });
  return {
    async ask(request, read) {
      const answer: ServiceAnswer = await client.request(prepared(request)).catch((error: unknown) => {
        throw failureError(error, timeoutMs);
      });
      const { status, body } = answer;
      if (!isAccepted(status, request)) throw answerError(answer, request.meanings ?? {});
      const result = read(parseJson(body.toString('utf8')), status);
      if (result === undefined) throw shapeError(answer);
      return result;
    },
    async open(request) {
      const answer = await client.open(prepared(request)).catch((error: unknown) => {
        throw failureError(error, timeoutMs);
      });
      if (isAccepted(answer.status, request)) return { ...answer, content: translated(answer.content, timeoutMs) };
      await answer.content.return();
      throw answerError({ ...answer, body: Buffer.alloc(0) }, request.meanings ?? {});
    },
    close: () => client.close(),
  };
}

/** Undefined and empty values are left out. */
export function queryOf(parameters: Readonly<Record<string, string | number | undefined>>): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== '') query.set(name, String(value));
  }
  return query;
}

function prepared({ json, ...request }: EngineRequest): ServiceRequest {
  if (json === undefined) return { repeatable: request.method === 'GET', ...request };
  const headers = { ...request.headers, 'content-type': 'application/json' };
  return { ...request, headers, body: Buffer.from(JSON.stringify(json)) };
}

function isAccepted(status: number, { accept = [] }: EngineRequest): boolean {
  return (status >= 200 && status < 300) || accept.includes(status);
}

async function* translated(content: ServiceContent['content'], timeoutMs: number): ServiceContent['content'] {
  try {
    yield* content;
  } catch (error) {
    throw failureError(error, timeoutMs);
  }
}
