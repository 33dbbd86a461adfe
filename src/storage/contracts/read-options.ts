import { CarrelError } from '../../base/errors.ts';

/** For calls that read. */
export interface ReadOptions {
  /** Gives the call up, and with it the thread or connection that performs it. */
  readonly signal?: AbortSignal | undefined;
}

/** What a read fails with when its caller has gone. The signal's own reason is no error of ours, and would be logged as a fault. */
export function givenUp(signal: AbortSignal): CarrelError {
  return new CarrelError('cancelled', 'The call was cancelled.', { cause: signal.reason });
}
