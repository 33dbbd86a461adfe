import { setTimeout as sleep } from 'node:timers/promises';
import { parseBoundedJson, serviceAnswerBytesMax, serviceBounds } from '../../base/bounded-json.ts';
import { CarrelError } from '../../base/errors.ts';
import { createSlots } from '../../base/slots.ts';

export interface RemoteCallsConfig {
  /** Timeout of one attempt, from the connection to the last byte. */
  timeoutMs: number;
  attemptsMax: number;
  concurrencyMax: number;
  /** The first pause between attempts; each further one is twice as long. */
  backOffMs?: number;
  /** How long to skip the server after `failuresMax` failed calls in a row. */
  pauseMs?: number;
  failuresMax?: number;
  /** Text for error messages: the server's name, and what still works without it. */
  server?: ServerMessages;
}

export interface ServerMessages {
  /** The server's name, as the start of a sentence. */
  readonly name: string;
  readonly withoutIt: string;
}

export interface PostOptions {
  /** Limits for the answer; a longer one is refused. */
  readonly answer?: { readonly bytesMax: number; readonly elementsMax: number };
  /** True if a search is waiting. Retries are then immediate, or omitted if the server asks to wait. */
  readonly isUrgent?: boolean;
}

const defaultBounds = { bytesMax: 1024 * 1024, elementsMax: serviceBounds.elementsMax };
const backOffMsMax = 10_000;
export const embeddingServer: ServerMessages = {
  name: 'The embedding server',
  withoutIt: 'Keyword search still works; try again later.',
};

/**
 * Calls a server that may be slow or down, with timeouts and retries. After several failures in a row, calls fail immediately
 * for `pauseMs`, so that searches need not wait before they fall back to keywords.
 */
export function createRemoteCalls(config: RemoteCallsConfig) {
  const { backOffMs = 250, pauseMs = 30_000, failuresMax = 3, server = embeddingServer } = config;
  const slots = createSlots({ runningMax: config.concurrencyMax, waitingMax: Number.POSITIVE_INFINITY });
  let failures = 0;
  let pausedUntil = 0;

  async function withRetries(
    request: () => Promise<unknown>,
    signal: AbortSignal | undefined,
    isUrgent: boolean,
  ): Promise<unknown> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await request();
      } catch (error) {
        if (signal?.aborted) throw cancelled(error);
        const refusal = error instanceof Refusal ? error : undefined;
        if (attempt >= config.attemptsMax || (refusal && !refusal.isTemporary)) throw unavailable(server, error);
        const asksToWait = refusal?.status === 429 || refusal?.retryAfterMs !== undefined;
        if (isUrgent && asksToWait) throw unavailable(server, error, refusal.retryAfterMs);
        if (isUrgent) continue;
        const pause = refusal?.retryAfterMs ?? backOffMs * 2 ** (attempt - 1) * (0.5 + Math.random());
        await sleep(Math.min(pause, backOffMsMax), undefined, signal ? { signal } : {}).catch(() => {});
      }
    }
  }

  return {
    /** Posts to a configured address and returns the parsed JSON. */
    async post(
      url: string,
      body: unknown,
      headers: Record<string, string>,
      signal: AbortSignal | undefined,
      { answer: bounds = defaultBounds, isUrgent = false }: PostOptions = {},
    ): Promise<unknown> {
      const remainingMs = pausedUntil - performance.now();
      if (remainingMs > 0) throw unavailable(server, new Error('circuit open'), remainingMs);
      const release = await slots.acquire(signal);
      try {
        const request = { url, body, headers, timeoutMs: config.timeoutMs, signal, bounds };
        const answer = await withRetries(() => postOnce(request), signal, isUrgent);
        failures = 0;
        return answer;
      } catch (error) {
        if (error instanceof CarrelError && error.code === 'cancelled') throw error;
        failures += 1;
        // After a pause, a single failure starts the next pause: only a success resets the counter.
        if (failures >= failuresMax) pausedUntil = performance.now() + pauseMs;
        throw error;
      } finally {
        release();
      }
    },
  };
}

function cancelled(cause: unknown): CarrelError {
  return new CarrelError('cancelled', 'The call was cancelled.', { cause });
}

/** The server answered with an error status or unusable content. */
export class Refusal extends Error {
  readonly status: number;
  readonly isTemporary: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(status: number, retryAfter: string | null, problem = `HTTP ${status}`) {
    super(problem);
    this.status = status;
    this.isTemporary = status === 408 || status === 429 || status >= 500;
    const seconds = Number(retryAfter ?? Number.NaN);
    this.retryAfterMs = Number.isFinite(seconds) ? Math.max(0, seconds) * 1000 : undefined;
  }
}

interface OneRequest {
  readonly url: string;
  readonly body: unknown;
  readonly headers: Record<string, string>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly bounds: NonNullable<PostOptions['answer']>;
}

async function postOnce({ url, body, headers, timeoutMs, signal, bounds }: OneRequest): Promise<unknown> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    // A redirect would send the key and the texts to an unconfigured address.
    redirect: 'error',
    signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Refusal(response.status, response.headers.get('retry-after'));
  }
  const bytesMax = Math.min(bounds.bytesMax, serviceAnswerBytesMax);
  const parsed = parseBoundedJson(await readBounded(response, bytesMax), { ...serviceBounds, ...bounds });
  if (parsed === undefined) throw new Refusal(response.status, null, 'the answer is not JSON or has too many elements');
  return parsed;
}

async function readBounded(response: Response, bytesMax: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > bytesMax) throw new Refusal(response.status, null, `the answer has more than ${bytesMax} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

export function unavailable(server: ServerMessages, cause: unknown, retryAfterMs?: number): CarrelError {
  const message =
    cause instanceof Refusal && !cause.isTemporary
      ? `${server.name} refused the request (${cause.message}). Check its address, the model's name and the key.`
      : `${server.name} does not answer. ${server.withoutIt}`;
  const retryAfterSeconds = retryAfterMs === undefined ? undefined : Math.ceil(retryAfterMs / 1000);
  return new CarrelError('unavailable', message, {
    cause,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}
