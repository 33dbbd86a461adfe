import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  classifyInboundRequest,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/server';
import { isObject } from '../base/json.ts';
import { modernRevisions } from './protocol-versions.ts';

/*
 * Requests that the SDK would hand to us as they are. Reading and checking them once more is most of what it costs, so these
 * go past it. Whatever has anything unusual does not: what is wrong with a request, and how that is said, is for the
 * SDK to decide.
 */

type Params = Record<string, unknown>;

const envelopeKeys = [
  PROTOCOL_VERSION_META_KEY,
  CLIENT_INFO_META_KEY,
  CLIENT_CAPABILITIES_META_KEY,
  LOG_LEVEL_META_KEY,
] as const;

/** In the revisions with a handshake. */
export function isPlain(params: Params | undefined): boolean {
  if (params === undefined) return true;
  if (isRetry(params)) return false;
  const { _meta: meta } = params;
  if (meta === undefined) return true;
  return isObject(meta) && !envelopeKeys.some((key) => key in meta);
}

/** What a plain request of 2026-07-28 says of its client. */
export interface Envelope {
  readonly meta: Params;
  readonly clientInfo: unknown;
  readonly capabilities: unknown;
}

/** From 2026-07-28 on. Undefined if the request is not plain. */
export function readEnvelope(method: string, params: Params | undefined): Envelope | undefined {
  const meta = params?.['_meta'];
  if (params === undefined || !isObject(meta) || isRetry(params) || !isKnown(meta)) return undefined;
  if (method === 'tools/call') {
    const { name, arguments: given } = params;
    if (typeof name !== 'string' || (given !== undefined && !isObject(given))) return undefined;
  }
  return { meta, clientInfo: meta[CLIENT_INFO_META_KEY], capabilities: meta[CLIENT_CAPABILITIES_META_KEY] };
}

/** In the revisions with a handshake, any integer may be one. */
export function isModernId(id: unknown): id is string | number {
  return typeof id === 'string' || Number.isSafeInteger(id);
}

function isRetry(params: Params): boolean {
  return 'inputResponses' in params || 'requestState' in params;
}

/** Envelopes that the SDK has found to be in order: a client sends the same with every request. */
const known = new Set<string>();
const knownMax = 100;
const knownUnitsMax = 4_096;

function isKnown(meta: Params): boolean {
  if (!(modernRevisions as readonly unknown[]).includes(meta[PROTOCOL_VERSION_META_KEY])) return false;
  const envelope = Object.fromEntries(envelopeKeys.map((key) => [key, meta[key]]));
  const text = JSON.stringify(envelope);
  if (known.has(text)) return true;
  const body = { jsonrpc: '2.0', id: 0, method: 'tools/list', params: { _meta: envelope } };
  if (text.length > knownUnitsMax || classifyInboundRequest({ httpMethod: 'POST', body }).kind !== 'modern')
    return false;
  if (known.size >= knownMax) known.clear();
  known.add(text);
  return true;
}
