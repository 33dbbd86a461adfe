import { currentCaller } from './current-caller.ts';
import { CarrelError } from './errors.ts';
import { FairQueue } from './fair-queue.ts';

export interface SlotsOptions {
  runningMax: number;
  /** Max waiting calls; more are refused. */
  waitingMax: number;
  /** Max running calls of one caller. */
  perCallerMax?: number;
  /** Max milliseconds that a call waits before it is refused. */
  waitMsMax?: number;
}

export interface Slots {
  /** Waits for a free slot and returns a function that releases it. Rejects when the signal aborts. */
  acquire(signal?: AbortSignal): Promise<() => void>;
}

interface WaitingCall {
  enter(): void;
  refuse(error: CarrelError): void;
}

/**
 * Runs up to `runningMax` calls, queues up to `waitingMax` and refuses the rest. Callers get slots round-robin, no matter how
 * many calls each has waiting.
 */
export function createSlots(options: SlotsOptions, refusal = tooMany): Slots {
  const { runningMax, waitingMax, perCallerMax = runningMax, waitMsMax } = options;
  const running = new Map<string, number>();
  let runningCount = 0;
  const queue = new FairQueue<WaitingCall>();

  const mayRun = (caller: string): boolean => (running.get(caller) ?? 0) < perCallerMax;
  const begin = (caller: string): (() => void) => {
    runningCount += 1;
    running.set(caller, (running.get(caller) ?? 0) + 1);
    return once(() => {
      const remaining = (running.get(caller) ?? 1) - 1;
      if (remaining === 0) running.delete(caller);
      else running.set(caller, remaining);
      runningCount -= 1;
      queue.take(mayRun)?.item.enter();
    });
  };

  return {
    acquire(signal) {
      if (signal?.aborted) return Promise.reject(cancelled());
      const caller = currentCaller();
      if (runningCount < runningMax && mayRun(caller)) return Promise.resolve(begin(caller));
      if (queue.size >= waitingMax) {
        const displaced = queue.takeFromLongest(caller);
        if (displaced === undefined) return Promise.reject(refusal(runningMax, waitingMax));
        displaced.refuse(refusal(runningMax, waitingMax));
      }
      return new Promise((resolve, reject) => {
        let timer: NodeJS.Timeout | undefined;
        const onAbort = (): void => abandon(cancelled());
        const abandon = (error: CarrelError): void => {
          queue.delete(caller, waiting);
          waiting.refuse(error);
        };
        const cleanUp = (): void => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', onAbort);
        };
        const waiting: WaitingCall = {
          enter() {
            cleanUp();
            resolve(begin(caller));
          },
          refuse(error) {
            cleanUp();
            reject(error);
          },
        };
        queue.add(caller, waiting);
        signal?.addEventListener('abort', onAbort, { once: true });
        if (waitMsMax !== undefined) timer = setTimeout(() => abandon(refusal(runningMax, waitingMax)), waitMsMax);
      });
    },
  };
}

function once(action: () => void): () => void {
  let wasCalled = false;
  return () => {
    if (wasCalled) return;
    wasCalled = true;
    action();
  };
}

function tooMany(running: number, waiting: number): CarrelError {
  const message = `Too many calls at the same time: ${running} are running and ${waiting} are waiting. Try again in a second.`;
  return new CarrelError('too_many_in_flight', message, { retryAfterSeconds: 1 });
}

function cancelled(): CarrelError {
  return new CarrelError('cancelled', 'The call was cancelled before it could start.');
}
