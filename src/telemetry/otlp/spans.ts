import { createHash, randomBytes } from 'node:crypto';
import { isObject } from '../../base/json.ts';
import { type Operation, operationLabels } from '../recorder.ts';
import { type Attributes, nanoseconds, type Span } from './payload.ts';
import type { Sampler } from './sampler.ts';

/** Max characters of a request id in a span. Clients may send ids of any length. */
const requestIdCharsMax = 128;
/** Max characters of `tracestate`. W3C Trace Context allows dropping a longer list. */
const tracestateCharsMax = 512;

/** Creates the span of a request by OpenTelemetry's MCP conventions, without the request's content. Undefined if not sampled. */
export function spanOf(operation: Operation, sampler: Sampler): Span | undefined {
  const parent = readParent(operation.meta);
  const traceId = parent?.traceId ?? randomBytes(16).toString('hex');
  if (!sampler(traceId, parent?.isSampled)) return undefined;
  const { method, subject, error, startedAt, ms } = operation;
  return {
    traceId,
    spanId: randomBytes(8).toString('hex'),
    ...(parent === undefined ? {} : { parentSpanId: parent.spanId }),
    ...(parent?.tracestate === undefined ? {} : { traceState: parent.tracestate }),
    flags: 1,
    name: subject === undefined ? method : `${method} ${subject.name}`,
    kind: serverKind,
    startTimeUnixNano: nanoseconds(startedAt),
    endTimeUnixNano: nanoseconds(startedAt + ms),
    attributes: attributesOf(operation),
    status: error === undefined ? {} : { code: errorStatus },
  };
}

const serverKind = 2;
const errorStatus = 2;

function attributesOf(operation: Operation): Attributes {
  const { method, error, sessionId, requestId, transport } = operation;
  const isRpcCode = error !== undefined && /^-?\d+$/.test(error);
  return {
    ...operationLabels(operation),
    ...(method === 'tools/call' ? { 'gen_ai.operation.name': 'execute_tool' } : {}),
    ...(isRpcCode ? { 'rpc.response.status_code': error } : {}),
    ...(requestId === undefined ? {} : { 'jsonrpc.request.id': requestId.slice(0, requestIdCharsMax) }),
    // Hashed, because the id itself would give readers of the spans access to the session.
    ...(sessionId === undefined ? {} : { 'mcp.session.id': digest(sessionId) }),
    ...(transport === 'tcp' ? { 'network.protocol.name': 'http' } : {}),
  };
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

interface Parent {
  traceId: string;
  spanId: string;
  isSampled: boolean;
  tracestate?: string;
}

/** Reads the caller's span from the request's `_meta`. A malformed span counts as absent. */
function readParent(meta: unknown): Parent | undefined {
  if (!isObject(meta)) return undefined;
  const { traceparent, tracestate } = meta;
  if (typeof traceparent !== 'string') return undefined;
  const match = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(?:-|$)/.exec(traceparent);
  const [, traceId, spanId, flags] = match ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  const isValidTracestate =
    typeof tracestate === 'string' && tracestate.length <= tracestateCharsMax && /^[\x20-\x7e]+$/.test(tracestate);
  return {
    traceId,
    spanId,
    isSampled: (Number.parseInt(flags, 16) & 1) === 1,
    ...(isValidTracestate ? { tracestate } : {}),
  };
}
