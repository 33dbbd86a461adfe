import { CarrelError, isCarrelError } from '../base/errors.ts';

/**
 * Runs work until its time is up (`fetch_timeout`) or the caller aborts (`cancelled`, or the caller's own reason). The time limit
 * covers all of the work, so it also stops a body that trickles in.
 */
export async function withDeadline<T>(
  { timeoutMs, host }: { timeoutMs: number; host: string },
  callerSignal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const onCallerAbort = (): void => controller.abort(cancellation(callerSignal?.reason));
  const timer = setTimeout(() => controller.abort(timeout(host, timeoutMs)), timeoutMs);
  callerSignal?.addEventListener('abort', onCallerAbort, { once: true });
  try {
    if (callerSignal?.aborted) onCallerAbort();
    controller.signal.throwIfAborted();
    const result = await work(controller.signal);
    // Checked again, because a body that the abort truncated may look complete.
    controller.signal.throwIfAborted();
    return result;
  } catch (error) {
    // After an abort, any other error (a reset, a half-read body) is only a consequence.
    controller.signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
    callerSignal?.removeEventListener('abort', onCallerAbort);
  }
}

function cancellation(reason: unknown): CarrelError {
  return isCarrelError(reason) ? reason : new CarrelError('cancelled', 'The fetch was cancelled.', { cause: reason });
}

function timeout(host: string, timeoutMs: number): CarrelError {
  const message = `${host} did not deliver the whole answer within ${timeoutMs} ms. Try again later, or fetch another page.`;
  return new CarrelError('fetch_timeout', message, { data: { host, timeoutMs } });
}
