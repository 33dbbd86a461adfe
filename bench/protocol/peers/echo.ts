/** The one tool that every peer offers: the work is nothing, so what is measured is the protocol around it. */
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

/** Both forms of the answer, as every peer gives it. */
export function answerEcho(given: Record<string, unknown> | undefined): EchoAnswer {
  if (typeof given?.['text'] !== 'string') throw new Error('text must be a string');
  const data = { text: given['text'] };
  return { content: [{ type: 'text', text: JSON.stringify(data) }], structuredContent: data };
}

/** How an HTTP peer is to answer; the bare SDKs are told at their start, Carrel reads it from each request. */
export type HttpMode = 'json' | 'sse' | 'modern';

export function httpMode(): HttpMode {
  const given = process.argv[3];
  return given === 'sse' || given === 'modern' ? given : 'json';
}
