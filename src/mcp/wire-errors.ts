import { CarrelError, type ErrorKind } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { scrubSecrets } from '../base/secret.ts';
import type { FailureStyle } from '../tools/toolset.ts';
import type { Era } from './protocol-versions.ts';

/**
 * "Resource not found" is -32002 up to 2025-11-25, but the SDK rewrites that number to the one of 2026-07-28 whatever the
 * revision. Errors therefore leave the handlers with this code, and the conversation puts the right one on the wire.
 */
const resourceNotFoundInside = -42_002;
const resourceNotFoundOnWire = -32_002;

export function codeOnWire(code: number): number {
  return code === resourceNotFoundInside ? resourceNotFoundOnWire : code;
}

const rpcCodes: Record<ErrorKind, number> = {
  input: -32_602,
  not_found: -32_000,
  limit: -32_000,
  forbidden: -32_000,
  upstream: -32_000,
  timeout: -32_000,
  cancelled: -32_000,
  config: -32_000,
  internal: -32_603,
};

/** An error as JSON-RPC has it. The SDK reads the same fields from errors of its own. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** For what should not happen outside a method, where everything has a name and is in the log. */
export const internalError = { code: rpcCodes.internal, message: 'Internal error', data: undefined };

/** A rate or in-flight limit: the same call may succeed after `data.retryAfter` seconds. */
const retryableCode = -32_001;

/** The extension that turns slow calls into tasks, from 2026-07-28 on. */
export const tasksExtension = 'io.modelcontextprotocol/tasks';

export const missingCapabilityCode = -32_021;

export function missingTasks(): RpcError {
  return new RpcError(missingCapabilityCode, `The client must declare the extension ${tasksExtension}.`, {
    requiredCapabilities: { extensions: { [tasksExtension]: {} } },
  });
}

export interface WireFailure {
  code: string;
  message: string;
  data: Record<string, unknown>;
}

/** Whatever was thrown, as an error of ours: the unexpected gets an incident id, and its details stay in the log. */
export function ownError(thrown: unknown, log: Logger): CarrelError {
  if (thrown instanceof CarrelError) {
    if (thrown.cause !== undefined) log.debug('call failed', { code: thrown.code, error: thrown });
    return thrown;
  }
  const incident = log.incident('unexpected error', thrown);
  return new CarrelError('internal', `Internal error. The log has the details under incident ${incident}.`, {
    data: { incident },
  });
}

export function describeFailure(error: CarrelError): WireFailure {
  const retry = error.retryAfterSeconds === undefined ? {} : { retryAfter: error.retryAfterSeconds };
  return {
    code: error.code,
    message: scrubSecrets(error.message),
    data: { code: error.code, ...retry, ...error.data },
  };
}

export function toProtocolError(error: CarrelError, era: Era, style?: FailureStyle): RpcError {
  const { message, data } = describeFailure(error);
  return new RpcError(numericCode(error, era, style), message, data);
}

function numericCode(error: CarrelError, era: Era, style?: FailureStyle): number {
  if (error.code === 'resource_not_found') return era === 'modern' ? rpcCodes.input : resourceNotFoundInside;
  const overridden = style?.as === 'jsonrpc' ? style.codes?.[error.kind] : undefined;
  const retryable = error.kind === 'limit' && error.retryAfterSeconds !== undefined;
  return overridden ?? (retryable ? retryableCode : rpcCodes[error.kind]);
}
