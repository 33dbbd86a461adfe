/** Revisions that open with `initialize`, newest first: the first is offered to a client that asks for an unsupported one. */
const handshakeRevisions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;
/** Revisions where every request carries its own context and there is no session. */
export const modernRevisions = ['2026-07-28'] as const;

/** `handshake`: up to 2025-11-25. `modern`: from 2026-07-28 on. */
export type Era = 'handshake' | 'modern';

export interface OfferedRevisions {
  handshake: readonly string[];
  modern: boolean;
  /** `--cody`: be lenient about headers and serve the HTTP+SSE pair of 2024-11-05 as well. */
  cody: boolean;
}

export const everyRevision: OfferedRevisions = { handshake: handshakeRevisions, modern: true, cody: false };
export const fessRevision: OfferedRevisions = { handshake: ['2025-03-26'], modern: false, cody: false };
export const codyRevision: OfferedRevisions = { handshake: ['2024-11-05'], modern: false, cody: true };

/** Batches were part of JSON-RPC in MCP until 2025-06-18 took them out. */
export function allowsBatches(revision: string | undefined): boolean {
  return revision === '2024-11-05' || revision === '2025-03-26';
}

/** Results of tools have had links to resources since 2025-06-18. */
export function knowsResourceLinks(revision: string): boolean {
  return revision >= '2025-06-18';
}

/** Servers have had pictures since 2025-11-25. */
export function knowsIcons(revision: string): boolean {
  return revision >= '2025-11-25';
}

const protocolVersionKey = 'io.modelcontextprotocol/protocolVersion';

/** Whether a message names its own revision, as every request from 2026-07-28 on does. */
export function carriesRevision(message: unknown): boolean {
  if (typeof message !== 'object' || message === null || !('params' in message)) return false;
  const { params } = message;
  if (typeof params !== 'object' || params === null || !('_meta' in params)) return false;
  const { _meta: meta } = params;
  return typeof meta === 'object' && meta !== null && protocolVersionKey in meta;
}
