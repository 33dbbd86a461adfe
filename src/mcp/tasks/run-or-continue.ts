import type { IncomingCall } from '../methods/incoming-call.ts';

/** Work that may continue after its call was answered. */
export interface Running<Result> {
  readonly result: Promise<Result>;
  /** Aborted when the call is cancelled, before or after it was answered. */
  readonly signal: AbortSignal;
  cancel(): void;
}

/**
 * Runs work for a call. If the work takes longer than `slowMs`, or calls `beSlow`, `continueAs` creates a handle, which the
 * caller gets instead of the result. If `continueAs` returns undefined, the caller waits for the result.
 */
export async function runOrContinue<Result, Handle>(
  call: Pick<IncomingCall, 'signal'>,
  slowMs: number,
  begin: (running: Omit<Running<Result>, 'result'>, beSlow: () => void) => Promise<Result>,
  continueAs: (running: Running<Result>) => Promise<Handle | undefined>,
): Promise<{ result: Result } | { handle: Handle }> {
  const controller = new AbortController();
  const cancel = (): void => controller.abort();
  call.signal.addEventListener('abort', cancel, { once: true });
  const slow = Promise.withResolvers<void>();
  const timer = setTimeout(slow.resolve, slowMs);
  try {
    const { signal } = controller;
    const result = begin({ signal, cancel }, slow.resolve);
    const first = await Promise.race([result.then((value) => ({ result: value })), slow.promise]);
    if (first) return first;
    const handle = await continueAs({ result, signal, cancel });
    return handle === undefined ? { result: await result } : { handle };
  } finally {
    clearTimeout(timer);
    call.signal.removeEventListener('abort', cancel);
  }
}
