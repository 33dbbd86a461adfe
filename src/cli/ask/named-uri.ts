import { CarrelError } from '../../base/errors.ts';

/** Which toolset has what a uri of this kind names. */
const owners: Readonly<Record<string, string>> = {
  'carrel://kb/': 'kb',
  'carrel://notes/': 'research',
  'carrel://context/': 'context',
  'fess://': 'fess',
};

/** What a person names: a URI, or what a table shows alone, the number of a document or the id of a note. */
export function namedUri(word: string): { uri: string; toolset: string } {
  const uri = uriOf(word);
  const prefix = Object.keys(owners).find((each) => uri.startsWith(each));
  const toolset = prefix === undefined ? undefined : owners[prefix];
  if (toolset !== undefined) return { uri, toolset };
  throw new CarrelError(
    'invalid_usage',
    `${JSON.stringify(uri.slice(0, 80))} names nothing here. It is one of ${Object.keys(owners).join('…, ')}…, or the number of a document.`,
  );
}

function uriOf(word: string): string {
  if (/^\d+$/.test(word)) return `carrel://kb/doc/${word}`;
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}$/i.test(word) ? `carrel://notes/${word}` : word;
}
