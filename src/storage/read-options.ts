import { CarrelError } from '../base/errors.ts';

export interface ReadOptions {
  /** Aborts the call and the thread or connection that runs it. */
  readonly signal?: AbortSignal | undefined;
}

/** The error for a read whose caller is gone. The signal's own reason is not a CarrelError, so it would be logged as a bug. */
export function cancelledRead(signal: AbortSignal): CarrelError {
  return new CarrelError('cancelled', 'The call was cancelled.', { cause: signal.reason });
}
