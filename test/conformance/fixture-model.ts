import { metaKeys } from '../../src/mcp/protocol-versions.ts';

export type Fields = Record<string, unknown>;
export type FixtureRun = (params: Fields, context: FixtureContext) => Promise<Fields>;

/** The part of the SDK's context that fixtures use. Revisions with a handshake use our own requests instead. */
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

/** The capabilities that a client of 2026-07-28 declares in every request. */
export function declaredCapabilities({ mcpReq }: FixtureContext): Fields {
  const envelope: Fields = { ...mcpReq.envelope };
  return (envelope[metaKeys.capabilities] ?? {}) as Fields;
}
