import type { ErrorKind } from '../base/errors.ts';
import type { Labels, Registry } from './registry.ts';

/** A client request that was answered or cancelled. */
export interface Operation {
  method: string;
  /** The tool or prompt that the request names, if it exists. */
  subject?: { kind: 'tool' | 'prompt'; name: string };
  /** The JSON-RPC code, `tool_error`, or `cancelled`. */
  error?: string | undefined;
  /** OpenTelemetry's values for stdio and HTTP. */
  transport: 'pipe' | 'tcp';
  revision?: string | undefined;
  sessionId?: string | undefined;
  requestId?: string | undefined;
  /** Milliseconds since 1970, with fractions. */
  startedAt: number;
  ms: number;
  /** The `_meta` of the request, as the client sent it, unchecked. */
  meta: unknown;
}

/** One tool call, from any source. */
export interface ToolCall {
  /** Milliseconds since 1970. */
  at: number;
  tool: string;
  caller: { id: string; name: string; owner?: string; authenticated?: boolean; serverOrigin?: string };
  /** The arguments, as the client sent them. */
  args?: unknown;
  /** The client's self-reported name. */
  client?: { name: string; version: string } | undefined;
  ms: number;
  /** `ok`, or the code of the error. */
  outcome: string;
  /** The error's kind. */
  kind?: ErrorKind;
  answer?: object;
}

/** How the hits of one search were reranked. */
export interface Reranking {
  state: 'applied' | 'off' | 'failed';
  candidates: number;
  ms: number;
}

export type Recorder = ReturnType<typeof createRecorder>;

/** Histogram buckets in seconds, as OpenTelemetry's MCP conventions advise. */
const operationBounds = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];
const sessionBounds = [1, 10, 60, 300, 1_800, 7_200, 28_800, 86_400];
const rerankingBounds = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5];

/** Max token names that are counted separately. Further ones are counted together. */
const callersMax = 100;
const callerCharsMax = 64;

/** Counts events for the metrics, and passes operations and calls on to listeners. */
export function createRecorder(registry: Registry) {
  const operations = registry.histogram(
    { name: 'mcp.server.operation.duration', unit: 's', help: 'Requests of MCP clients and their duration.' },
    operationBounds,
  );
  const sessions = registry.histogram(
    { name: 'mcp.server.session.duration', unit: 's', help: 'Ended sessions and their duration.' },
    sessionBounds,
  );
  const calls = registry.counter({ name: 'carrel.tool.calls', help: 'Tool calls by outcome.' });
  const byCaller = registry.counter({ name: 'carrel.caller.calls', help: 'Tool calls by token name.' });
  const refusals = registry.counter({ name: 'carrel.refusals', help: 'Refused requests by reason.' });
  const answers = registry.counter({ name: 'carrel.http.requests', help: 'HTTP requests by route.' });
  const rerankings = registry.histogram(
    { name: 'carrel.reranking.duration', unit: 's', help: 'Searches whose hits were reranked.' },
    rerankingBounds,
  );
  const candidates = registry.counter({ name: 'carrel.reranking.candidates', help: 'Hits sent to the reranker.' });
  let running = 0;
  registry.watch('gauge', { name: 'carrel.calls.in_progress', help: 'Running tool calls.' }, () => [
    { labels: {}, value: running },
  ]);
  const callers = new Set<string>();
  const callerLabel = (caller: string): string => {
    const name = caller.slice(0, callerCharsMax);
    if (callers.size < callersMax) callers.add(name);
    return callers.has(name) ? name : '(others)';
  };
  const operationListeners: ((operation: Operation) => void)[] = [];
  const callListeners: ((call: ToolCall) => void)[] = [];

  return {
    operation(operation: Operation): void {
      operations.record(operationLabels(operation), operation.ms / 1000);
      for (const listener of operationListeners) listener(operation);
    },
    /** Starts a call. The returned function records its end. */
    call() {
      running += 1;
      return (call: ToolCall): void => {
        running -= 1;
        const { tool, outcome, kind } = call;
        const result = kind === undefined ? 'ok' : results[kind];
        calls.add({ tool, outcome });
        byCaller.add({ caller: callerLabel(call.caller.name), result });
        if (result === 'refused') refusals.add({ reason: outcome });
        for (const listener of callListeners) listener(call);
      };
    },
    reranked({ state, candidates: count, ms }: Reranking): void {
      rerankings.record({ state }, ms / 1000);
      candidates.add({}, count);
    },
    httpAnswer(route: string, status: number): void {
      answers.add({ route, status: String(status) });
      const reason = refusalOf[status];
      if (reason !== undefined) refusals.add({ reason });
    },
    sessionEnded: (ms: number): void => sessions.record({ 'network.transport': 'tcp' }, ms / 1000),
    connectionRefused: (): void => refusals.add({ reason: 'connections' }),
    onOperation: (listener: (operation: Operation) => void) => void operationListeners.push(listener),
    onCall: (listener: (call: ToolCall) => void) => void callListeners.push(listener),
  };
}

/** Separates problems that an operator can act on (failed, refused) from mistakes of the caller. */
const results: Readonly<Record<ErrorKind, 'invalid' | 'refused' | 'failed' | 'cancelled'>> = {
  input: 'invalid',
  not_found: 'invalid',
  limit: 'refused',
  forbidden: 'refused',
  upstream: 'failed',
  timeout: 'failed',
  config: 'failed',
  internal: 'failed',
  cancelled: 'cancelled',
};

/** HTTP statuses that count as a refusal, with the reason to report. */
const refusalOf: Readonly<Record<number, string>> = {
  401: 'token',
  403: 'origin_or_rights',
  413: 'message_too_large',
  429: 'wrong_tokens',
  503: 'busy',
};

/** Labels that OpenTelemetry's conventions share between metrics and spans. */
export function operationLabels({ method, subject, error, transport, revision }: Operation): Labels {
  return {
    'mcp.method.name': method,
    ...(subject === undefined ? {} : { [`gen_ai.${subject.kind}.name`]: subject.name }),
    ...(error === undefined ? {} : { 'error.type': error }),
    'network.transport': transport,
    ...(revision === undefined ? {} : { 'mcp.protocol.version': revision }),
  };
}
