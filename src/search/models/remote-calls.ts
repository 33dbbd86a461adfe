import { setTimeout as sleep } from 'node:timers/promises';
import { CarrelError } from '../../base/errors.ts';

export interface RemoteCallsConfig {
  /** For one attempt, from the connection to the last byte. */
  timeoutMs: number;
  attemptsMax: number;
  concurrencyMax: number;
  /** The first pause between attempts; each further one is twice as long. */
  backOffMs?: number;
  /** How long the server is left alone after `failuresMax` calls in a row have failed. */
  pauseMs?: number;
  failuresMax?: number;
  /** For error messages: which server it is, and what still works without it. */
  server?: ServerWords;
}

export interface ServerWords {
  /** The start of a sentence. */
  readonly name: string;
  readonly withoutIt: string;
}

export interface RemoteCalls {
  /** Posts to an address that the operator configured. Answers with the parsed JSON. */
  post(url: string, body: unknown, headers: Record<string, string>, signal: AbortSignal | undefined): Promise<unknown>;
}

/** An answer may have hundreds of vectors of thousands of numbers each, as text. */
const answerBytesMax = 64 * 1024 * 1024;
const backOffMsMax = 10_000;
export const embeddingServer: ServerWords = {
  name: 'The embedding server',
  withoutIt: 'Search by words keeps working; repeat the call later.',
};

/**
 * Calls to a server that may be slow, busy or down: limited in number and time, and retried if that can help. After several
 * failed calls in a row, none are made for a while, so that searches fall back to words at once.
 */
export function createRemoteCalls(config: RemoteCallsConfig): RemoteCalls {
  const { backOffMs = 250, pauseMs = 30_000, failuresMax = 3, server = embeddingServer } = config;
  const waiting: (() => void)[] = [];
  let running = 0;
  let failures = 0;
  let closedUntil = 0;

  async function slot(signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) throw cancelled(signal.reason);
    if (running < config.concurrencyMax) {
      running += 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const proceed = (): void => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        waiting.splice(waiting.indexOf(proceed), 1);
        reject(cancelled(signal?.reason));
      };
      waiting.push(proceed);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }

  function releaseSlot(): void {
    const following = waiting.shift();
    if (following) following();
    else running -= 1;
  }

  async function attempts(request: () => Promise<unknown>, signal: AbortSignal | undefined): Promise<unknown> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await request();
      } catch (error) {
        if (signal?.aborted) throw cancelled(error);
        const refusal = error instanceof Refusal ? error : undefined;
        if (attempt >= config.attemptsMax || (refusal && !refusal.temporary)) throw unavailable(server, error);
        const pause = refusal?.retryAfterMs ?? backOffMs * 2 ** (attempt - 1) * (0.5 + Math.random());
        await sleep(Math.min(pause, backOffMsMax), undefined, signal ? { signal } : {}).catch(() => {});
      }
    }
  }

  return {
    async post(url, body, headers, signal) {
      const closedMs = closedUntil - performance.now();
      if (closedMs > 0) throw unavailable(server, new Error('circuit open'), closedMs);
      await slot(signal);
      try {
        const answer = await attempts(() => postOnce(url, body, headers, config.timeoutMs, signal), signal);
        failures = 0;
        return answer;
      } catch (error) {
        if (error instanceof CarrelError && error.code === 'cancelled') throw error;
        failures += 1;
        // The first call after the pause is a trial: one more failure starts another pause.
        if (failures >= failuresMax) closedUntil = performance.now() + pauseMs;
        throw error;
      } finally {
        releaseSlot();
      }
    },
  };
}

function cancelled(cause: unknown): CarrelError {
  return new CarrelError('cancelled', 'The call was cancelled.', { cause });
}

/** The server answered with an error status. */
export class Refusal extends Error {
  readonly status: number;
  readonly temporary: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(status: number, retryAfter: string | null) {
    super(`HTTP ${status}`);
    this.status = status;
    this.temporary = status === 408 || status === 429 || status >= 500;
    const seconds = Number(retryAfter ?? Number.NaN);
    this.retryAfterMs = Number.isFinite(seconds) ? Math.max(0, seconds) * 1000 : undefined;
  }
}

async function postOnce(
  url: string,
  body: unknown,
  headers: Record<string, string>,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    // A redirect would send the key and the texts to an address that nobody configured.
    redirect: 'error',
    signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Refusal(response.status, response.headers.get('retry-after'));
  }
  return JSON.parse(await readBounded(response));
}

async function readBounded(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > answerBytesMax) throw new Error('the answer is too long');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

export function unavailable(server: ServerWords, cause: unknown, retryAfterMs?: number): CarrelError {
  const message =
    cause instanceof Refusal && !cause.temporary
      ? `${server.name} refused the request (${cause.message}). Check its address, the model's name and the key.`
      : `${server.name} does not answer. ${server.withoutIt}`;
  const retryAfterSeconds = retryAfterMs === undefined ? undefined : Math.ceil(retryAfterMs / 1000);
  return new CarrelError('unavailable', message, {
    cause,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}
