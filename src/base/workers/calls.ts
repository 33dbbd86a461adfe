import { currentCaller } from '../current-caller.ts';
import type { WorkerCall, WorkerMessage } from './answer-calls.ts';
import { inItsTurn } from './large-answers.ts';
import { type ThreadTime, threadTime } from './thread-time.ts';
import { fromWire } from './wire-error.ts';

/** A thread or a process that answers calls (answer-calls.ts). It keeps our process alive only while it is asked. */
export interface Calls<Request, Answer> {
  /** False once it has failed or was ended; it then answers nothing any more. */
  readonly alive: boolean;
  /** Resolves when it can be asked. Calls need not wait for that. */
  ready(): Promise<void>;
  /** That a thread has had. Unknown before it is ready, and of processes. */
  time(): ThreadTime | undefined;
  /** With the signal, only the caller gives up: the worker goes on. */
  call(request: Request, signal?: AbortSignal): Promise<Answer>;
  /** Lets it perform what was asked before, then ends it. */
  close(): Promise<void>;
  /** Fails what was asked. Resolves when the worker has ended. */
  terminate(): Promise<void>;
}

/** What carries the messages. */
export interface Peer {
  send(message: unknown): void;
  /** Whether it keeps our process alive. */
  hold(held: boolean): void;
  terminate(): void | Promise<void>;
  onMessage(take: (message: unknown) => void): void;
  /** Once, with what is known of the reason. */
  onEnd(tell: (cause: unknown) => void): void;
}

interface Waiting {
  caller: string;
  resolve(value: unknown): void;
  reject(reason: unknown): void;
}

/** Calls that the worker can no longer answer fail with what `lost` makes of the reason; undefined: it was terminated. */
export function createCalls<Request, Answer>(peer: Peer, lost: (cause: unknown) => Error): Calls<Request, Answer> {
  const waiting = new Map<number, Waiting>();
  const started = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  // Whoever calls learns of it; a worker that nobody waits for may fail in silence.
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
      // It is answered, whatever becomes of the worker meanwhile.
      waiting.delete(id);
      if (isLarge && call) inItsTurn(call.caller, () => call.resolve(value));
      else call?.resolve(value);
    } else waiting.get(message.id)?.reject(fromWire(message.error));
  });
  peer.onEnd((cause) => {
    if (failure === undefined) fail(lost(cause));
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
        if (failure === undefined) fail(lost(undefined));
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
      // Both sides name the same types; a message cannot carry that proof.
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
