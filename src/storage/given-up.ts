import { CarrelError } from '../base/errors.ts';

/** What a read fails with when its caller has gone. The signal's own reason is no error of ours, and would be logged as a fault. */
export function givenUp(signal: AbortSignal): CarrelError {
  return new CarrelError('cancelled', 'The call was cancelled.', { cause: signal.reason });
}
