import { CarrelError } from '../base/errors.ts';

/** For calls that read. */
export interface ReadOptions {
  /** Aborts the call, and with it the thread or connection that runs it. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * What a read fails with when its caller has gone. The signal's own reason is not one of our errors, and would be logged
 * as a bug.
 */
export function givenUp(signal: AbortSignal): CarrelError {
  return new CarrelError('cancelled', 'The call was cancelled.', { cause: signal.reason });
}
