/** The only tool of every server. It does no work, so only the protocol layer is measured. */
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

/** Returns the answer as text and as structured content, the same for every server. */
export function answerEcho(args: Record<string, unknown> | undefined): EchoAnswer {
  if (typeof args?.['text'] !== 'string') throw new Error('text must be a string');
  const data = { text: args['text'] };
  return { content: [{ type: 'text', text: JSON.stringify(data) }], structuredContent: data };
}

/** How an HTTP server answers. The SDKs get the mode at start-up; Carrel decides by each request. */
export type HttpMode = 'json' | 'sse' | 'modern';

export function httpMode(): HttpMode {
  const mode = process.argv[3];
  return mode === 'sse' || mode === 'modern' ? mode : 'json';
}
