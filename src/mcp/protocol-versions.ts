import { isObject } from '../base/json.ts';

/** Revisions that start with `initialize`, newest first. Clients that ask for an unsupported revision get the first. */
const handshakeRevisions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;
/** Revisions without sessions: every request names its revision and describes its client. */
export const modernRevisions = ['2026-07-28'] as const;

/** `handshake`: up to 2025-11-25. `modern`: 2026-07-28 and later. "Era" is the MCP SDK's word. */
export type ProtocolEra = 'handshake' | 'modern';

export interface SupportedRevisions {
  handshake: readonly string[];
  modern: boolean;
  /** True with `--cody`: the server is lenient about headers and also serves the HTTP+SSE transport of 2024-11-05. */
  cody: boolean;
}

export const everyRevision: SupportedRevisions = { handshake: handshakeRevisions, modern: true, cody: false };
export const fessRevision: SupportedRevisions = { handshake: ['2025-03-26'], modern: false, cody: false };
export const codyRevision: SupportedRevisions = { handshake: ['2024-11-05'], modern: false, cody: true };

/** True for revisions with JSON-RPC batches, which MCP removed in 2025-06-18. */
export function allowsBatches(revision: string | undefined): boolean {
  return revision === '2024-11-05' || revision === '2025-03-26';
}

/** True if tool results may contain resource links: since 2025-06-18. */
export function supportsResourceLinks(revision: string): boolean {
  return revision >= '2025-06-18';
}

/** True if servers may have icons: since 2025-11-25. */
export function supportsIcons(revision: string): boolean {
  return revision >= '2025-11-25';
}

/** Keys of `_meta` that the protocol defines. */
export const metaKeys = {
  revision: 'io.modelcontextprotocol/protocolVersion',
  client: 'io.modelcontextprotocol/clientInfo',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  logLevel: 'io.modelcontextprotocol/logLevel',
  server: 'io.modelcontextprotocol/serverInfo',
  subscription: 'io.modelcontextprotocol/subscriptionId',
  relatedTask: 'io.modelcontextprotocol/related-task',
} as const;

/** The extension that turns slow calls into tasks, since 2026-07-28. */
export const tasksExtension = 'io.modelcontextprotocol/tasks';

/** True if a message names its revision, as every request since 2026-07-28 does. */
export function namesRevision(message: unknown): boolean {
  const params = isObject(message) ? message['params'] : undefined;
  const meta = isObject(params) ? params['_meta'] : undefined;
  return isObject(meta) && metaKeys.revision in meta;
}
