import { CarrelError, type ErrorKind } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { scrubSecrets } from '../base/secret.ts';
import type { FailureStyle, Toolset } from '../tools/toolset.ts';
import { type ProtocolEra, tasksExtension } from './protocol-versions.ts';

/** The JSON-RPC and MCP codes that this program sends. */
export const rpcCodes = {
  parseError: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
  application: -32_000,
  /** A rate or concurrency limit: retry after `data.retryAfter` seconds. */
  retryable: -32_001,
  /** Up to 2025-11-25; later revisions use invalidParams. */
  resourceNotFound: -32_002,
  /** 2026-07-28: a header contradicts the body. */
  headerMismatch: -32_020,
  /** 2026-07-28: the client must declare a capability. */
  missingCapability: -32_021,
} as const;

const codesOfKinds: Partial<Record<ErrorKind, number>> = {
  input: rpcCodes.invalidParams,
  internal: rpcCodes.internal,
};

/** A JSON-RPC error. The SDK reads the same fields. */
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

/** The error for failures outside a method. Failures inside methods have codes and are logged. */
export const internalFailure = new RpcError(rpcCodes.internal, 'Internal error');

export function methodNotFound(): RpcError {
  return new RpcError(rpcCodes.methodNotFound, 'Method not found');
}

export function missingTasks(): RpcError {
  return new RpcError(rpcCodes.missingCapability, `The client must declare the extension ${tasksExtension}.`, {
    requiredCapabilities: { extensions: { [tasksExtension]: {} } },
  });
}

export interface WireFailure {
  code: string;
  message: string;
  data: Record<string, unknown>;
}

/** Converts a thrown value to a `CarrelError`. For an unexpected one, the log has the details under an incident id. */
export function toCarrelError(thrown: unknown, log: Logger): CarrelError {
  if (thrown instanceof CarrelError) {
    if (thrown.cause !== undefined) log.debug('call failed', { code: thrown.code, error: thrown });
    return thrown;
  }
  const incident = log.incident('unexpected error', thrown);
  const message = `Internal error. The log has the details under incident ${incident}.`;
  return new CarrelError('internal', message, { data: { incident } });
}

export function describeFailure(error: CarrelError): WireFailure {
  const retry = error.retryAfterSeconds === undefined ? {} : { retryAfter: error.retryAfterSeconds };
  return {
    code: error.code,
    message: scrubSecrets(error.message),
    data: { code: error.code, ...retry, ...error.data },
  };
}

/** A failed call, with the toolset that decides how failures are reported. The toolset is undefined if no tool was found. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure';
  readonly error: CarrelError;
  readonly toolset: Toolset | undefined;

  constructor(error: CarrelError, toolset: Toolset | undefined) {
    super(error.message, { cause: error });
    this.error = error;
    this.toolset = toolset;
  }
}

/** Converts a thrown value to a JSON-RPC error. */
export function toRpcError(thrown: unknown, era: ProtocolEra, log: Logger): RpcError {
  if (thrown instanceof RpcError) return thrown;
  if (thrown instanceof ToolFailure) return toProtocolError(thrown.error, era, thrown.toolset?.failures);
  return toProtocolError(toCarrelError(thrown, log), era);
}

function toProtocolError(error: CarrelError, era: ProtocolEra, style?: FailureStyle): RpcError {
  const { message, data } = describeFailure(error);
  return new RpcError(numericCode(error, era, style), message, data);
}

function numericCode(error: CarrelError, era: ProtocolEra, style?: FailureStyle): number {
  if (error.code === 'resource_not_found') return era === 'modern' ? rpcCodes.invalidParams : rpcCodes.resourceNotFound;
  const overridden = style?.as === 'jsonrpc' ? style.codes?.[error.kind] : undefined;
  if (overridden !== undefined) return overridden;
  if (error.kind === 'limit' && error.retryAfterSeconds !== undefined) return rpcCodes.retryable;
  return codesOfKinds[error.kind] ?? rpcCodes.application;
}
