import { isObject } from '../base/json.ts';

/*
 * Requests that the SDK would hand to us as they are. Loading it takes a quarter of a start, and reading and checking a request
 * once more is most of what a call costs, so these go past it. Whatever has anything unusual does not: what is wrong with
 * a request, and how that is said, is for the SDK to decide.
 */

type Params = Record<string, unknown>;

export const envelopeKeys = {
  revision: 'io.modelcontextprotocol/protocolVersion',
  client: 'io.modelcontextprotocol/clientInfo',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  logLevel: 'io.modelcontextprotocol/logLevel',
} as const;

/** In the revisions with a handshake. */
export function isPlain(params: Params | undefined): boolean {
  if (params === undefined) return true;
  if (isRetry(params)) return false;
  const { _meta: meta } = params;
  if (meta === undefined) return true;
  return isObject(meta) && !Object.values(envelopeKeys).some((key) => key in meta);
}

/** With answers to questions, which only 2026-07-28 has. */
export function isRetry(params: Params): boolean {
  return 'inputResponses' in params || 'requestState' in params;
}

/** The handshake: a client whose words we know. */
export function isPlainHandshake(params: Params): boolean {
  const { capabilities, clientInfo } = params;
  if (!isPlain(params) || !isObject(capabilities) || !isObject(clientInfo)) return false;
  const { name, version, icons } = clientInfo;
  const texts = ['title', 'websiteUrl', 'description'].map((field) => clientInfo[field]);
  return (
    [name, version].every((text) => typeof text === 'string') &&
    texts.every((text) => text === undefined || typeof text === 'string') &&
    icons === undefined &&
    Object.entries(capabilities).every(([capability, value]) => isPlainCapability(capability, value))
  );
}

function isPlainCapability(name: string, value: unknown): boolean {
  if (!isObject(value)) return false;
  const parts = Object.entries(value);
  switch (name) {
    case 'roots':
      return parts.every(([part, given]) => part === 'listChanged' && typeof given === 'boolean');
    case 'sampling':
    case 'experimental':
    case 'extensions':
      return parts.every(([, given]) => isObject(given));
    case 'elicitation':
      return parts.every(([part, given]) => isObject(given) && (part !== 'form' || Object.keys(given).length === 0));
    default:
      return false;
  }
}
