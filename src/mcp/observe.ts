import type { Operation, Recorder } from '../telemetry/recorder.ts';
import type { Catalogue } from '../tools/catalogue.ts';
import { type CallTool, ToolFailure } from './call-tool.ts';
import { codeOnWire, RpcError } from './wire-errors.ts';

/** A name that is no tool's may be anything, as long as a message can be, and a new one each time. */
const unknownTool = '(unknown)';

/** The funnel, with every call told to the recorder. */
export function observeCalls(callTool: CallTool, catalogue: Catalogue, recorder: Recorder): CallTool {
  return async (name, given, call) => {
    const ended = recorder.call();
    const [at, start] = [Date.now(), performance.now()];
    const facts = () => ({
      at,
      tool: catalogue.find(name) === undefined ? unknownTool : name,
      caller: call.caller,
      client: call.client,
      ms: performance.now() - start,
    });
    try {
      const answer = await callTool(name, given, call);
      ended({ ...facts(), outcome: 'ok', answer });
      return answer;
    } catch (failure) {
      const { code, kind } =
        failure instanceof ToolFailure ? failure.error : ({ code: 'internal', kind: 'internal' } as const);
      ended({ ...facts(), outcome: code, kind });
      throw failure;
    }
  };
}

/** OpenTelemetry's word for a method that is none of ours, and so may be anything. */
export const otherMethod = '_OTHER';

/** What is known of a request before it is carried out. */
export type OperationFacts = Pick<
  Operation,
  'method' | 'transport' | 'revision' | 'sessionId' | 'requestId' | 'meta'
> & {
  params: Readonly<Record<string, unknown>>;
};

/** The end of a request: how it failed, if it did. */
export type EndOperation = (error?: string) => void;

export function beginOperation(
  recorder: Recorder,
  catalogue: Catalogue,
  { params, ...facts }: OperationFacts,
): EndOperation {
  const start = performance.now();
  return (error) => {
    const subject = subjectOf(catalogue, facts.method, params['name'], error);
    recorder.operation({
      ...facts,
      error,
      startedAt: performance.timeOrigin + start,
      ms: performance.now() - start,
      ...(subject === undefined ? {} : { subject }),
    });
  };
}

/** Only names that exist: others may be anything. */
function subjectOf(
  catalogue: Catalogue,
  method: string,
  name: unknown,
  error: string | undefined,
): Operation['subject'] {
  if (typeof name !== 'string') return undefined;
  if (method === 'tools/call' && catalogue.find(name) !== undefined) return { kind: 'tool', name };
  return method === 'prompts/get' && error === undefined ? { kind: 'prompt', name } : undefined;
}

/** As the conventions name it: the code of JSON-RPC. */
export function errorTypeOf(thrown: unknown, signal: AbortSignal): string {
  if (signal.aborted) return 'cancelled';
  return String(thrown instanceof RpcError ? codeOnWire(thrown.code) : -32_603);
}
