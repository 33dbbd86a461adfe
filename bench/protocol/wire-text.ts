import { echo } from './peers/echo.ts';

const text = 'The quick brown fox jumps over the lazy dog.';
export const sessionRevision = '2025-11-25';
export const modernRevision = '2026-07-28';

export const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: sessionRevision, capabilities: {}, clientInfo: { name: 'bench', version: '0' } },
});

export const initialized = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });

export const listTools = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });

const meta = {
  'io.modelcontextprotocol/protocolVersion': modernRevision,
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '0' },
};

export function callText(id: number, isModern: boolean): string {
  const params = { name: echo.name, arguments: { text }, ...(isModern ? { _meta: meta } : {}) };
  return JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params });
}

/** Throws if the answer is wrong, so that wrong answers are not counted as fast ones. */
export function checkAnswer(answer: string, id: number): void {
  const { id: answered, result } = JSON.parse(answer);
  if (answered !== id || result?.structuredContent?.text !== text || result.isError === true) {
    throw new Error(`request ${id} got a wrong answer: ${answer.slice(0, 500)}`);
  }
}
