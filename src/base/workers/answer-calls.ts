import { parentPort } from 'node:worker_threads';
import { isLarge } from './large-answers.ts';
import { systemThread } from './thread-time.ts';
import { toWire, type WireError } from './wire-error.ts';

export interface WorkerCall<Request> {
  readonly id: number;
  readonly request: Request;
}

export type WorkerMessage<Answer> =
  /** `thread`: the system's thread id, if known. */
  | { readonly kind: 'ready'; readonly isThread: boolean; readonly thread: number | undefined }
  /** The worker failed to start and exits. */
  | { readonly kind: 'failed'; readonly error: WireError }
  /** `isLarge`: see large-answers.ts. */
  | { readonly kind: 'answer'; readonly id: number; readonly value: Answer; readonly isLarge: boolean }
  | { readonly kind: 'error'; readonly id: number; readonly error: WireError };

export interface CallHandler<Request, Answer> {
  perform(request: Request): Answer | Promise<Answer>;
  /** Returns the buffers of an answer to transfer instead of copy. */
  transfer?(request: Request, answer: Answer): ArrayBuffer[];
  /** Converts an error to one for callers. */
  explain?(error: unknown): unknown;
  close?(): void | Promise<void>;
}

/**
 * Answers the calls of calls.ts in a worker: a thread or a forked process. Calls run one at a time, in order, once the handler
 * is open.
 */
export function answerCalls<Request, Answer>(
  open: () => CallHandler<Request, Answer> | Promise<CallHandler<Request, Answer>>,
): void {
  const port = parentPort ?? processPort;
  const send = (message: WorkerMessage<Answer>, transferred: ArrayBuffer[] = []) =>
    port.postMessage(message, transferred);
  let handler: CallHandler<Request, Answer> | undefined;
  let last = start();
  port.on('message', (message: WorkerCall<Request> | 'close') => {
    last = last.then(() => (message === 'close' ? close() : answer(message)));
  });

  async function start(): Promise<void> {
    try {
      handler = await open();
      send({ kind: 'ready', isThread: parentPort !== null, thread: systemThread() });
    } catch (error) {
      send({ kind: 'failed', error: toWire(error) });
      port.close();
    }
  }

  async function answer({ id, request }: WorkerCall<Request>): Promise<void> {
    if (handler === undefined) return;
    try {
      const value = await handler.perform(request);
      send({ kind: 'answer', id, value, isLarge: isLarge(value) }, handler.transfer?.(request, value));
    } catch (error) {
      send({ kind: 'error', id, error: toWire(handler.explain?.(error) ?? error) });
    }
  }

  async function close(): Promise<void> {
    await handler?.close?.();
    port.close();
  }
}

/** The channel to the parent process. It cannot transfer buffers. */
const processPort = {
  postMessage: (message: unknown) => void process.send?.(message),
  on: (event: 'message', listener: Parameters<NonNullable<typeof parentPort>['on']>[1]) =>
    void process.on(event, listener),
  close: () => process.disconnect(),
};
