import type * as z from 'zod';
import { parseBoundedJson, serviceAnswerBytesMax } from '../../base/bounded-json.ts';
import type { Secret } from '../../base/secret.ts';
import {
  createServiceClient,
  type ServiceAnswer,
  type ServiceContent,
  type ServiceRequest,
} from '../../http/service-client.ts';
import { answerError, type ErrorCodes, failureError, shapeError } from './engine-errors.ts';

export interface EngineClientConfig {
  /** The engine's URL, with or without `/api/v1`. */
  engineUrl: string;
  apiKey?: Secret | undefined;
  timeoutMs: number;
}

export interface EngineRequest extends Omit<ServiceRequest, 'body'> {
  json?: unknown;
  body?: ServiceRequest['body'];
  errorCodes?: ErrorCodes;
  /** Statuses outside 200 to 299 that are results, not errors. */
  accept?: readonly number[];
}

const basePath = '/api/v1';

export function createEngineClient({ engineUrl, apiKey, timeoutMs }: EngineClientConfig) {
  const url = engineUrl.replace(/\/+$/, '');
  const client = createServiceClient({
    baseUrl: url.endsWith(basePath) ? url : `${url}${basePath}`,
    headers: {
      accept: 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'carrel-kb',
      ...(apiKey ? { authorization: `Bearer ${apiKey.reveal()}` } : {}),
    },
    timeoutMs,
    answerBytesMax: serviceAnswerBytesMax,
  });
  return {
    request: async <Schema extends z.ZodType>(request: EngineRequest, schema: Schema): Promise<z.output<Schema>> =>
      (await send(request)).as(schema),
    /** Like `request`, for answers whose schema depends on the status. */
    send,
    async open(request: EngineRequest): Promise<ServiceContent> {
      const answer = await client.open(toServiceRequest(request)).catch((error: unknown) => {
        throw failureError(error, timeoutMs);
      });
      if (isAccepted(answer.status, request))
        return { ...answer, content: withEngineErrors(answer.content, timeoutMs) };
      await answer.content.return();
      throw answerError({ ...answer, body: Buffer.alloc(0) }, request.errorCodes ?? {});
    },
    close: (): void => client.close(),
  };

  async function send(request: EngineRequest) {
    const answer: ServiceAnswer = await client.request(toServiceRequest(request)).catch((error: unknown) => {
      throw failureError(error, timeoutMs);
    });
    const { status, body } = answer;
    if (!isAccepted(status, request)) throw answerError(answer, request.errorCodes ?? {});
    return {
      status,
      as<Schema extends z.ZodType>(schema: Schema): z.output<Schema> {
        const parsed = schema.safeParse(parseBoundedJson(body.toString('utf8')));
        if (!parsed.success) throw shapeError(answer);
        return parsed.data;
      },
    };
  }
}

/** Creates a query string. Omits undefined and empty values. */
export function queryOf(parameters: Readonly<Record<string, string | number | undefined>>): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== '') query.set(name, String(value));
  }
  return query;
}

function toServiceRequest({ json, ...request }: EngineRequest): ServiceRequest {
  if (json === undefined) return { repeatable: request.method === 'GET', ...request };
  const headers = { ...request.headers, 'content-type': 'application/json' };
  return { ...request, headers, body: Buffer.from(JSON.stringify(json)) };
}

function isAccepted(status: number, { accept = [] }: EngineRequest): boolean {
  return (status >= 200 && status < 300) || accept.includes(status);
}

async function* withEngineErrors(content: ServiceContent['content'], timeoutMs: number): ServiceContent['content'] {
  try {
    yield* content;
  } catch (error) {
    throw failureError(error, timeoutMs);
  }
}
