import { currentCaller } from '../current-caller.ts';
import type { WorkerCall, WorkerMessage } from './answer-calls.ts';
import { deliverFairly } from './large-answers.ts';
import { type ThreadTime, threadTime } from './thread-time.ts';
import { fromWire } from './wire-error.ts';

/** A thread or process that answers calls (answer-calls.ts). It keeps our process alive only while a call is pending. */
export interface Calls<Request, Answer> {
  /** False after it failed or was terminated; it then answers nothing. */
  readonly alive: boolean;
  /** Resolves when it is ready. Calls need not wait for that. */
  ready(): Promise<void>;
  /** The time that a thread has used; undefined before it is ready, and for processes. */
  time(): ThreadTime | undefined;
  /** An abort only rejects the promise: the worker continues. */
  call(request: Request, signal?: AbortSignal): Promise<Answer>;
  /** Finishes earlier calls, then ends the worker. */
  close(): Promise<void>;
  /** Fails pending calls. Resolves when the worker has exited. */
  terminate(): Promise<void>;
}

/** The message channel. */
export interface Peer {
  send(message: unknown): void;
  /** Sets whether the worker keeps our process alive. */
  setRef(isRef: boolean): void;
  terminate(): void | Promise<void>;
  onMessage(listener: (message: unknown) => void): void;
  /** The listener is called when the worker has ended, with the cause if known. */
  onEnd(listener: (cause: unknown) => void): void;
}

interface PendingCall {
  caller: string;
  resolve(value: unknown): void;
  reject(reason: unknown): void;
}

/** Creates calls to a worker. If it ends, pending calls fail with `exitError(cause)`; after `terminate` the cause is undefined. */
export function createCalls<Request, Answer>(peer: Peer, exitError: (cause: unknown) => Error): Calls<Request, Answer> {
  const pending = new Map<number, PendingCall>();
  const started = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  // Without this, a failed start that nobody waits for would be an unhandled rejection.
  started.promise.catch(() => {});
  let failure: Error | undefined;
  let time = (): ThreadTime | undefined => undefined;
  let refs = 0;
  let lastId = 0;

  peer.setRef(false);
  peer.onMessage((received) => {
    const message = received as WorkerMessage<Answer>;
    if (message.kind === 'ready') {
      if (message.isThread) time = () => threadTime(message.thread);
      started.resolve();
    } else if (message.kind === 'failed') fail(fromWire(message.error));
    else if (message.kind === 'answer') {
      const { id, value, isLarge } = message;
      const call = pending.get(id);
      // Removed before delivery: if the worker dies now, this call must not fail.
      pending.delete(id);
      if (isLarge && call) deliverFairly(call.caller, () => call.resolve(value));
      else call?.resolve(value);
    } else pending.get(message.id)?.reject(fromWire(message.error));
  });
  peer.onEnd((cause) => {
    if (failure === undefined) fail(exitError(cause));
    ended.resolve();
  });

  return {
    get alive() {
      return failure === undefined;
    },
    ready: () => withRef(() => started.promise),
    time: () => time(),
    call,
    close: () =>
      withRef(async () => {
        if (failure === undefined) peer.send('close');
        await ended.promise;
      }),
    terminate: () =>
      withRef(async () => {
        if (failure === undefined) fail(exitError(undefined));
        void peer.terminate();
        await ended.promise;
      }),
  };

  async function call(request: Request, signal?: AbortSignal): Promise<Answer> {
    signal?.throwIfAborted();
    if (failure) throw failure;
    lastId += 1;
    const id = lastId;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const abort = () => reject(signal?.reason);
    signal?.addEventListener('abort', abort);
    pending.set(id, { caller: currentCaller(), resolve, reject });
    ref();
    try {
      peer.send({ id, request } satisfies WorkerCall<Request>);
      // Both sides share the types, but the compiler can't check messages.
      return (await promise) as Answer;
    } finally {
      pending.delete(id);
      signal?.removeEventListener('abort', abort);
      unref();
    }
  }

  function fail(error: Error): void {
    failure = error;
    started.reject(error);
    for (const call of pending.values()) call.reject(error);
  }

  async function withRef<T>(action: () => Promise<T>): Promise<T> {
    ref();
    try {
      return await action();
    } finally {
      unref();
    }
  }

  function ref(): void {
    refs += 1;
    if (refs === 1) peer.setRef(true);
  }

  function unref(): void {
    refs -= 1;
    if (refs === 0) peer.setRef(false);
  }
}
