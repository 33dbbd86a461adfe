import { CarrelError } from '../../base/errors.ts';
import type { Caller } from '../../tools/call.ts';
import { ToolFailure } from '../call-tool.ts';
import type { IncomingCall } from '../incoming-call.ts';
import { errorAnswer } from '../messages.ts';
import { beginOperation, otherMethod } from '../observe.ts';
import type { Offer } from '../offer.ts';
import { ownError, toProtocolError } from '../wire-errors.ts';
import type { BareCall } from './endpoint.ts';

/**
 * Plain JSON-RPC without initialize, Accept or session, for scripts and curl: the answer to `tools/call` is the tool's
 * own object, not wrapped as MCP content.
 */
export function createBareCall(whole: Offer): BareCall {
  return async (incoming, caller, signal) => {
    const offer = whole.within(caller.rights);
    if (incoming.kind === 'invalid') return errorAnswer(incoming.id, incoming.code, incoming.problem);
    if (incoming.kind !== 'request') return undefined;
    const { id, method, params = {} } = incoming;
    const call = createCall(offer, caller, signal);
    const facts = {
      method: methods.has(method) ? method : otherMethod,
      params,
      transport: 'tcp',
      requestId: String(id.value),
      meta: params['_meta'],
    } as const;
    const end = offer.recorder && beginOperation(offer.recorder, offer.catalogue, facts);
    try {
      const result = await answer(offer, method, params, call);
      end?.();
      return { jsonrpc: '2.0', result, id: id.value };
    } catch (thrown) {
      const { code, message, data } = failure(thrown, call);
      end?.(signal.aborted ? 'cancelled' : String(code));
      return errorAnswer(id, code, message, data);
    }
  };
}

const methods: ReadonlySet<string> = new Set(['ping', 'tools/list', 'tools/call', 'health', 'server/info']);

async function answer(
  offer: Offer,
  method: string,
  params: Record<string, unknown>,
  call: IncomingCall,
): Promise<unknown> {
  switch (method) {
    case 'ping':
      return {};
    case 'tools/list':
      return { tools: offer.catalogue.listings };
    case 'tools/call':
      if (typeof params['name'] !== 'string') {
        throw new CarrelError('invalid_arguments', 'params.name must be a string: the tool to call.');
      }
      return offer.callTool(params['name'], params['arguments'], call);
    case 'health':
      return { status: 'ok', timestamp: new Date().toISOString() };
    case 'server/info':
      return { ...offer.serverInfo, protocolVersion: '2024-11-05' };
    default:
      throw new MethodNotFound();
  }
}

class MethodNotFound extends Error {}

function failure(thrown: unknown, call: IncomingCall): { code: number; message: string; data?: unknown } {
  if (thrown instanceof MethodNotFound) {
    return { code: -32_601, message: 'Method not found. Without a session there are tools/list and tools/call.' };
  }
  const [error, toolset] =
    thrown instanceof ToolFailure ? [thrown.error, thrown.toolset] : [ownError(thrown, call.log)];
  return toProtocolError(error, 'modern', toolset?.failures);
}

function createCall(offer: Offer, caller: Caller, signal: AbortSignal): IncomingCall {
  return { caller, signal, log: offer.log.with({ caller: caller.name }), report() {}, keepCancellable: () => () => {} };
}
