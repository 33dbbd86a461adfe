import { CarrelError } from '../../base/errors.ts';
import type { Caller } from '../../tools/call.ts';
import { ToolFailure } from '../call-tool.ts';
import type { IncomingCall } from '../incoming-call.ts';
import { errorAnswer, type WireId } from '../messages.ts';
import type { Offer } from '../protocol-server.ts';
import { ownError, toProtocolError } from '../wire-errors.ts';
import type { BareCall } from './endpoint.ts';

/**
 * Plain JSON-RPC without initialize, Accept or session, for scripts and curl: the answer to `tools/call` is the tool's
 * own object, not wrapped as MCP content.
 */
export function createBareCall(offer: Offer): BareCall {
  return async (incoming, caller, signal) => {
    if (incoming.kind === 'invalid') return errorAnswer(incoming.id, incoming.code, incoming.problem);
    if (incoming.kind !== 'request') return undefined;
    const { id, method, params = {} } = incoming;
    const call = createCall(offer, caller, signal);
    try {
      return { jsonrpc: '2.0', result: await answer(offer, method, params, call), id: id.value };
    } catch (thrown) {
      return failure(id, thrown, call);
    }
  };
}

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

function failure(id: WireId, thrown: unknown, call: IncomingCall): object {
  if (thrown instanceof MethodNotFound) {
    return errorAnswer(id, -32_601, 'Method not found. Without a session there are tools/list and tools/call.');
  }
  const [error, toolset] =
    thrown instanceof ToolFailure ? [thrown.error, thrown.toolset] : [ownError(thrown, call.log)];
  const { code, message, data } = toProtocolError(error, 'modern', toolset?.failures);
  return errorAnswer(id, code, message, data);
}

function createCall(offer: Offer, caller: Caller, signal: AbortSignal): IncomingCall {
  return { caller, signal, log: offer.log, report() {}, keepCancellable: () => () => {} };
}
