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
  /** `held` is true if the worker should keep our process alive. */
  hold(held: boolean): void;
  terminate(): void | Promise<void>;
  onMessage(take: (message: unknown) => void): void;
  /** Calls `tell` when the worker has ended, with the cause if known. */
  onEnd(tell: (cause: unknown) => void): void;
}

interface Waiting {
  caller: string;
  resolve(value: unknown): void;
  reject(reason: unknown): void;
}

/** Creates calls to a worker. If it ends, pending calls fail with `exitError(cause)`; after `terminate` the cause is undefined. */
export function createCalls<Request, Answer>(peer: Peer, exitError: (cause: unknown) => Error): Calls<Request, Answer> {
  const waiting = new Map<number, Waiting>();
  const started = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  // Without this, a failed start that nobody waits for would be an unhandled rejection.
  started.promise.catch(() => {});
  let failure: Error | undefined;
  let time = (): ThreadTime | undefined => undefined;
  let holds = 0;
  let lastId = 0;

  peer.hold(false);
  peer.onMessage((received) => {
    const message = received as WorkerMessage<Answer>;
    if (message.kind === 'ready') {
      if (message.isThread) time = () => threadTime(message.thread);
      started.resolve();
    } else if (message.kind === 'failed') fail(fromWire(message.error));
    else if (message.kind === 'answer') {
      const { id, value, isLarge } = message;
      const call = waiting.get(id);
      // Removed before delivery: if the worker dies now, this call must not fail.
      waiting.delete(id);
      if (isLarge && call) deliverFairly(call.caller, () => call.resolve(value));
      else call?.resolve(value);
    } else waiting.get(message.id)?.reject(fromWire(message.error));
  });
  peer.onEnd((cause) => {
    if (failure === undefined) fail(exitError(cause));
    ended.resolve();
  });

  return {
    get alive() {
      return failure === undefined;
    },
    ready: () => held(() => started.promise),
    time: () => time(),
    call,
    close: () =>
      held(async () => {
        if (failure === undefined) peer.send('close');
        await ended.promise;
      }),
    terminate: () =>
      held(async () => {
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
    const abandon = () => reject(signal?.reason);
    signal?.addEventListener('abort', abandon);
    waiting.set(id, { caller: currentCaller(), resolve, reject });
    hold();
    try {
      peer.send({ id, request } satisfies WorkerCall<Request>);
      // Both sides share the types, but the compiler can't check messages.
      return (await promise) as Answer;
    } finally {
      waiting.delete(id);
      signal?.removeEventListener('abort', abandon);
      release();
    }
  }

  function fail(error: Error): void {
    failure = error;
    started.reject(error);
    for (const call of waiting.values()) call.reject(error);
  }

  async function held<T>(action: () => Promise<T>): Promise<T> {
    hold();
    try {
      return await action();
    } finally {
      release();
    }
  }

  function hold(): void {
    holds += 1;
    if (holds === 1) peer.hold(true);
  }

  function release(): void {
    holds -= 1;
    if (holds === 0) peer.hold(false);
  }
}
