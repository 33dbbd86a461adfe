import { CarrelError } from '../../base/errors.ts';
import type { Caller } from '../../tools/call.ts';
import { answerOf, errorAnswer, idText } from '../messages/messages.ts';
import type { IncomingCall, Params } from '../methods/incoming-call.ts';
import { otherMethod, recordOperation } from '../methods/record-operation.ts';
import type { ServerFeatures } from '../server-features.ts';
import { RpcError, rpcCodes, toRpcError } from '../wire-errors.ts';
import type { BareCall } from './endpoint.ts';

/**
 * Answers plain JSON-RPC without `initialize`, Accept header or session, for scripts and curl. The answer to `tools/call` is
 * the tool's own object, not wrapped as MCP content.
 */
export function createBareCall(allFeatures: ServerFeatures): BareCall {
  return async (incoming, caller, signal) => {
    const features = allFeatures.scopedTo(caller.rights);
    if (incoming.kind === 'invalid') return errorAnswer(incoming.id, incoming.code, incoming.problem);
    if (incoming.kind !== 'request') return undefined;
    const { id, method, params = {} } = incoming;
    const call = createCall(features, caller, signal);
    const attributes = { transport: 'tcp', requestId: idText(id) } as const;
    const request = { attributes, meta: params['_meta'] as Params | undefined, signal };
    const result = recordOperation(features, methods.has(method) ? method : otherMethod, params, request, () =>
      answer(features, method, params, call).catch((thrown: unknown) => {
        throw toRpcError(thrown, 'modern', call.log);
      }),
    );
    return answerOf(id, result);
  };
}

const methods: ReadonlySet<string> = new Set(['ping', 'tools/list', 'tools/call', 'health', 'server/info']);

async function answer(features: ServerFeatures, method: string, params: Params, call: IncomingCall): Promise<object> {
  switch (method) {
    case 'ping':
      return {};
    case 'tools/list':
      return { tools: features.catalogue.listings };
    case 'tools/call':
      if (typeof params['name'] !== 'string') {
        throw new CarrelError('invalid_arguments', 'params.name must be a string: the tool to call.');
      }
      return features.callTool(params['name'], params['arguments'], call);
    case 'health':
      return { status: 'ok', timestamp: new Date().toISOString() };
    case 'server/info':
      return { ...features.serverInfo, protocolVersion: '2024-11-05' };
    default: {
      const problem = 'Method not found. Without a session, only tools/list and tools/call are available.';
      throw new RpcError(rpcCodes.methodNotFound, problem);
    }
  }
}

function createCall(features: ServerFeatures, caller: Caller, signal: AbortSignal): IncomingCall {
  return {
    caller,
    signal,
    log: features.log.with({ caller: caller.name }),
    report() {},
    keepCancellable: () => () => {},
  };
}
