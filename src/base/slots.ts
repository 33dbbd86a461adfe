import { CarrelError } from './errors.ts';

export interface SlotsOptions {
  /** Calls that run at the same time. */
  runningMax: number;
  /** Calls that wait for one of them to end; more are refused. */
  waitingMax: number;
}

export interface Slots {
  /** Waits for a free slot and returns what gives it back. Gives up when the signal aborts. */
  acquire(signal?: AbortSignal): Promise<() => void>;
}

interface Waiting {
  enter: () => void;
}

/** A bounded number of calls run, a bounded number wait in order, the rest are told to come back. */
export function createSlots({ runningMax, waitingMax }: SlotsOptions, refusal = tooMany): Slots {
  let running = 0;
  const queue = new Set<Waiting>();

  const release = (): void => {
    const [next] = queue;
    if (next === undefined) {
      running -= 1;
      return;
    }
    queue.delete(next);
    next.enter();
  };

  return {
    acquire(signal) {
      if (signal?.aborted) return Promise.reject(cancelled());
      if (running < runningMax) {
        running += 1;
        return Promise.resolve(once(release));
      }
      if (queue.size >= waitingMax) return Promise.reject(refusal(runningMax, waitingMax));
      return new Promise((resolve, reject) => {
        const giveUp = (): void => {
          queue.delete(waiting);
          reject(cancelled());
        };
        const waiting: Waiting = {
          enter: () => {
            signal?.removeEventListener('abort', giveUp);
            resolve(once(release));
          },
        };
        queue.add(waiting);
        signal?.addEventListener('abort', giveUp, { once: true });
      });
    },
  };
}

function once(action: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    action();
  };
}

function tooMany(running: number, waiting: number): CarrelError {
  return new CarrelError(
    'too_many_in_flight',
    `Too many calls at the same time: ${running} are running and ${waiting} are waiting. Try again in a second.`,
    { retryAfterSeconds: 1 },
  );
}

function cancelled(): CarrelError {
  return new CarrelError('cancelled', 'The call was cancelled before it could start.');
}
