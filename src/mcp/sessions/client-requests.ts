import { isObject } from '../../base/json.ts';
import { RpcError, rpcCodes } from '../wire-errors.ts';

type Params = Record<string, unknown>;

export interface ClientRequestOptions {
  timeoutMs: number;
  signal: AbortSignal;
  /** Sends the request. */
  send(message: object): void;
}

interface Pending {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** Sends requests to one client, up to 2025-11-25. `tag` makes ids unique across processes, if answers may reach another process. */
export function createClientRequests(tag: string | undefined) {
  const pending = new Map<string | number, Pending>();
  let count = 0;
  return {
    /** Resolves with the client's result; rejects with its error, on cancellation or on timeout. */
    async send(method: string, params: Params, { timeoutMs, signal, send }: ClientRequestOptions): Promise<unknown> {
      signal.throwIfAborted();
      const id = tag === undefined ? count : `${tag}:${count}`;
      count += 1;
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      pending.set(id, { resolve, reject });
      const giveUp = (reason: string): void => {
        if (!pending.has(id)) return;
        send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id, reason } });
        reject(new Error(reason));
      };
      const timer = setTimeout(giveUp, timeoutMs, 'Request timed out');
      const onAbort = (): void => giveUp(String(signal.reason));
      signal.addEventListener('abort', onAbort, { once: true });
      send({ method, params, jsonrpc: '2.0', id });
      try {
        return await promise;
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        pending.delete(id);
      }
    },
    /** Handles the client's answer. */
    receive({ id, result, error }: Params): void {
      // Clients may return a number as text.
      const request = pending.get(id as string | number) ?? pending.get(Number(id));
      if (request === undefined) return;
      if (isObject(error)) {
        const code = Number.isSafeInteger(error['code']) ? Number(error['code']) : rpcCodes.internal;
        request.reject(new RpcError(code, String(error['message'] ?? ''), error['data']));
      } else request.resolve(result);
    },
    /** Rejects all open requests, because the client has disconnected. */
    close(): void {
      const unanswered = [...pending.values()];
      pending.clear();
      for (const { reject } of unanswered) reject(new Error('The client disconnected.'));
    },
  };
}
