import type { Operation } from '../../telemetry/recorder.ts';
import type { Catalogue } from '../../tools/catalogue.ts';
import type { ServerFeatures } from '../server-features.ts';
import { RpcError, rpcCodes } from '../wire-errors.ts';
import type { IncomingRequest, Params } from './incoming-call.ts';

/** OpenTelemetry's name for all unknown methods. Bounds the number of metric series. */
export const otherMethod = '_OTHER';

/** Answers a request and records its duration and outcome. */
export async function recordOperation<Result extends object>(
  { recorder, catalogue }: Pick<ServerFeatures, 'recorder' | 'catalogue'>,
  method: string,
  params: Params | undefined,
  { attributes, meta, signal }: Pick<IncomingRequest, 'attributes' | 'meta' | 'signal'>,
  answer: () => Promise<Result>,
): Promise<Result> {
  if (recorder === undefined) return answer();
  const start = performance.now();
  const end = (error: string | undefined): void => {
    const subject = subjectOf(catalogue, method, params?.['name'], error);
    recorder.operation({
      ...attributes,
      method,
      meta,
      error,
      startedAt: performance.timeOrigin + start,
      ms: performance.now() - start,
      ...(subject === undefined ? {} : { subject }),
    });
  };
  try {
    const result = await answer();
    end('isError' in result && result.isError === true ? 'tool_error' : undefined);
    return result;
  } catch (thrown) {
    end(signal.aborted ? 'cancelled' : String(thrown instanceof RpcError ? thrown.code : rpcCodes.internal));
    throw thrown;
  }
}

/** Returns the tool or prompt of a request, if it exists. Metrics must not contain arbitrary names. */
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
