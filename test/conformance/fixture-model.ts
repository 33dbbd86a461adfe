import { metaKeys } from '../../src/mcp/protocol-versions.ts';

export type Fields = Record<string, unknown>;
export type FixtureRun = (params: Fields, context: FixtureContext) => Promise<Fields>;

/** What fixtures use of the SDK's context. In the revisions with a handshake, our own requests take its place. */
export interface FixtureContext {
  mcpReq: {
    signal: AbortSignal;
    envelope?: object | undefined;
    inputResponses?: Fields | undefined;
    requestState(): unknown;
    notify(notification: { method: string; params: Fields }): Promise<void>;
    send(request: { method: string; params: Fields }): Promise<Fields>;
    log(level: 'info', data: string): Promise<void>;
  };
  http?: { closeSSE?: (() => void) | undefined } | undefined;
}

export interface FixtureTool {
  description: string;
  inputSchema: Fields;
  run: FixtureRun;
}

export interface FixturePrompt {
  arguments: { name: string; description: string; required: boolean }[];
  run: FixtureRun;
}

export const noArguments: Fields = { type: 'object', properties: {} };

export function text(value: string): Fields {
  return { content: [{ type: 'text', text: value }] };
}

/** What a client of 2026-07-28 says it can do, in every request. */
export function declaredCapabilities({ mcpReq }: FixtureContext): Fields {
  const envelope: Fields = { ...mcpReq.envelope };
  return (envelope[metaKeys.capabilities] ?? {}) as Fields;
}
