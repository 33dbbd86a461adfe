/** The one tool of every peer: it does nothing, so the protocol around it is measured. */
export const echo = {
  name: 'echo',
  title: 'Echo',
  description: 'Returns the text.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  outputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
} as const;

export interface EchoAnswer {
  content: { type: 'text'; text: string }[];
  structuredContent: { text: string };
  [extra: string]: unknown;
}

/** The answer as text and as structured content, the same for every peer. */
export function answerEcho(given: Record<string, unknown> | undefined): EchoAnswer {
  if (typeof given?.['text'] !== 'string') throw new Error('text must be a string');
  const data = { text: given['text'] };
  return { content: [{ type: 'text', text: JSON.stringify(data) }], structuredContent: data };
}

/** How an HTTP peer answers; the bare SDKs are configured at start, Carrel reads it from each request. */
export type HttpMode = 'json' | 'sse' | 'modern';

export function httpMode(): HttpMode {
  const given = process.argv[3];
  return given === 'sse' || given === 'modern' ? given : 'json';
}
