import { CLIENT_CAPABILITIES_META_KEY, type ServerContext } from '@modelcontextprotocol/server';

export type Fields = Record<string, unknown>;
export type FixtureRun = (params: Fields, context: ServerContext) => Promise<Fields>;

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
export function declaredCapabilities({ mcpReq }: ServerContext): Fields {
  const envelope: Fields = { ...mcpReq.envelope };
  return (envelope[CLIENT_CAPABILITIES_META_KEY] ?? {}) as Fields;
}
