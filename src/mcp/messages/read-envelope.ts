import { classifyInboundRequest } from '@modelcontextprotocol/server';
import { isObject } from '../../base/json.ts';
import { metaKeys, modernRevisions } from '../protocol-versions.ts';

type Params = Record<string, unknown>;

/** The client's description of itself, which every request of 2026-07-28 has in `_meta`. */
export interface Envelope {
  readonly meta: Params;
  readonly clientInfo: unknown;
  readonly capabilities: unknown;
}

/** Reads the envelope of a request of 2026-07-28. Returns undefined if the SDK must check the request. */
export function readEnvelope(method: string, params: Params | undefined): Envelope | undefined {
  const meta = params?.['_meta'];
  if (params === undefined || !isObject(meta) || isRetry(params) || !isAccepted(meta)) return undefined;
  if (method === 'tools/call') {
    const { name, arguments: args } = params;
    if (typeof name !== 'string' || (args !== undefined && !isObject(args))) return undefined;
  }
  return { meta, clientInfo: meta[metaKeys.client], capabilities: meta[metaKeys.capabilities] };
}

/** True if a request repeats a call with answers to the server's questions. */
function isRetry(params: Params): boolean {
  return 'inputResponses' in params || 'requestState' in params;
}

/** True for an id that revisions since 2026-07-28 allow: text or a safe integer. Earlier ones allow any integer. */
export function isModernId(id: unknown): id is string | number {
  return typeof id === 'string' || Number.isSafeInteger(id);
}

/** Cache of envelopes that the SDK has accepted: a client sends the same one in every request. */
const acceptedEnvelopes = new Set<string>();
const acceptedMax = 100;
const envelopeUnitsMax = 4_096;

function isAccepted(meta: Params): boolean {
  if (!(modernRevisions as readonly unknown[]).includes(meta[metaKeys.revision])) return false;
  const envelope = {
    [metaKeys.revision]: meta[metaKeys.revision],
    [metaKeys.client]: meta[metaKeys.client],
    [metaKeys.capabilities]: meta[metaKeys.capabilities],
    [metaKeys.logLevel]: meta[metaKeys.logLevel],
  };
  const text = JSON.stringify(envelope);
  if (acceptedEnvelopes.has(text)) return true;
  const body = { jsonrpc: '2.0', id: 0, method: 'tools/list', params: { _meta: envelope } };
  if (text.length > envelopeUnitsMax || classifyInboundRequest({ httpMethod: 'POST', body }).kind !== 'modern')
    return false;
  if (acceptedEnvelopes.size >= acceptedMax) acceptedEnvelopes.clear();
  acceptedEnvelopes.add(text);
  return true;
}
