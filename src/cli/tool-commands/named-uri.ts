import { quote, usageError } from '../usage-error.ts';

/** The toolset for each URI prefix. */
const toolsets: Readonly<Record<string, string>> = {
  'carrel://kb/': 'kb',
  'carrel://notes/': 'research',
  'carrel://context/': 'context',
  'fess://': 'fess',
};

/** Accepts a URI, a document number or a note id. */
export function namedUri(word: string): { uri: string; toolset: string } {
  const uri = uriOf(word);
  const prefix = Object.keys(toolsets).find((each) => uri.startsWith(each));
  const toolset = prefix === undefined ? undefined : toolsets[prefix];
  if (toolset !== undefined) return { uri, toolset };
  throw usageError(
    `${quote(uri)} is not a known URI. Use one that starts with ${Object.keys(toolsets).join(', ')}, or a document number.`,
  );
}

function uriOf(word: string): string {
  if (/^\d+$/.test(word)) return `carrel://kb/doc/${word}`;
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}$/i.test(word) ? `carrel://notes/${word}` : word;
}
