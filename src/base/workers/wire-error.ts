import { CarrelError, type ErrorCode, isCarrelError } from '../errors.ts';

/** An error as plain data: messages between threads and processes keep neither the classes nor the codes of errors. */
export interface WireError {
  readonly code: ErrorCode | undefined;
  readonly message: string;
  readonly data: Record<string, unknown>;
  readonly retryAfterSeconds: number | undefined;
  /** The cause or stack, for the log. */
  readonly detail: string | undefined;
}

export function toWire(error: unknown): WireError {
  if (isCarrelError(error)) {
    const { code, message, data, retryAfterSeconds, cause } = error;
    return { code, message, data, retryAfterSeconds, detail: cause === undefined ? undefined : detailOf(cause) };
  }
  return { code: undefined, message: '', data: {}, retryAfterSeconds: undefined, detail: detailOf(error) };
}

export function fromWire(error: WireError): Error {
  const cause = error.detail === undefined ? undefined : new Error(error.detail);
  if (error.code === undefined) return cause ?? new Error('a worker failed');
  const { code, message, data, retryAfterSeconds } = error;
  return new CarrelError(code, message, {
    cause,
    data,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}

function detailOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
