import { isObject } from '../../base/json.ts';
import { RpcError, rpcCodes } from '../wire-errors.ts';

type Params = Record<string, unknown>;

export interface ClientRequestOptions {
  timeoutMs: number;
  signal: AbortSignal;
  /** Sends the request. */
  tell(message: object): void;
}

/** Requests from the server to a client, up to 2025-11-25. */
export interface ClientRequests {
  /** Resolves with the client's result; rejects with its error, on cancellation or on timeout. */
  send(method: string, params: Params, options: ClientRequestOptions): Promise<unknown>;
  /** Handles the client's answer. */
  receive(response: Params): void;
  /** Rejects all open requests, because the client has disconnected. */
  close(): void;
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** Creates the requests to one client. `tag` makes ids unique across processes, if answers may reach another process. */
export function createClientRequests(tag: string | undefined): ClientRequests {
  const waiting = new Map<string | number, Waiting>();
  let count = 0;
  return {
    async send(method, params, { timeoutMs, signal, tell }) {
      signal.throwIfAborted();
      const id = tag === undefined ? count : `${tag}:${count}`;
      count += 1;
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      waiting.set(id, { resolve, reject });
      const giveUp = (reason: string): void => {
        if (!waiting.has(id)) return;
        tell({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id, reason } });
        reject(new Error(reason));
      };
      const timer = setTimeout(giveUp, timeoutMs, 'Request timed out');
      const onAbort = (): void => giveUp(String(signal.reason));
      signal.addEventListener('abort', onAbort, { once: true });
      tell({ method, params, jsonrpc: '2.0', id });
      try {
        return await promise;
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        waiting.delete(id);
      }
    },
    receive({ id, result, error }) {
      // Clients may return a number as text.
      const known = waiting.get(id as string | number) ?? waiting.get(Number(id));
      if (known === undefined) return;
      if (isObject(error)) {
        const code = Number.isSafeInteger(error['code']) ? Number(error['code']) : rpcCodes.internal;
        known.reject(new RpcError(code, String(error['message'] ?? ''), error['data']));
      } else known.resolve(result);
    },
    close() {
      const left = [...waiting.values()];
      waiting.clear();
      for (const { reject } of left) reject(new Error('The client disconnected.'));
    },
  };
}
