import { CarrelError } from '../../base/errors.ts';
import { version } from '../../base/package-info.ts';

/** What a server says about itself. */
export interface Greeting {
  readonly server: string;
  readonly revision: string;
  readonly tools: number;
  /** From the start, or the first request, to the list of tools. */
  readonly answeredMs: number;
}

export const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'carrel-init', version } },
};
export const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };
export const listTools = { jsonrpc: '2.0', id: 2, method: 'tools/list' };

export function readGreeting(greeting: unknown, tools: unknown, startedAt: number): Greeting {
  const info = isRecord(greeting) && isRecord(greeting['serverInfo']) ? greeting['serverInfo'] : {};
  const list = isRecord(tools) ? tools['tools'] : undefined;
  if (!Array.isArray(list) || typeof info['name'] !== 'string') {
    throw new CarrelError('unavailable', 'What answered is not an MCP server. Nothing was changed.');
  }
  const revision = isRecord(greeting) ? String(greeting['protocolVersion']) : '';
  return {
    server: `${info['name']} ${String(info['version'] ?? '')}`.trim(),
    revision,
    tools: list.length,
    answeredMs: performance.now() - startedAt,
  };
}

/** What is no JSON is no answer. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
