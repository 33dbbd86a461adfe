import { CarrelError } from '../../base/errors.ts';
import type { CommandLine } from '../command-line.ts';
import { printableText } from '../terminal/printable.ts';
import { ask } from './ask.ts';
import { openFile } from './open-file.ts';
import { printJson } from './show.ts';

/** Which toolset has what a uri of this kind names. */
const owners: Readonly<Record<string, string>> = {
  'carrel://kb/': 'kb',
  'carrel://notes/': 'research',
  'carrel://context/': 'context',
  'fess://': 'fess',
};

/** `carrel get <uri>`: what resources/read gives, whole. */
export async function getCommand(line: CommandLine): Promise<void> {
  const uri = uriOf(line.words[0] ?? '');
  const prefix = Object.keys(owners).find((each) => uri.startsWith(each));
  const toolset = prefix === undefined ? undefined : owners[prefix];
  if (toolset === undefined) {
    throw new CarrelError(
      'invalid_usage',
      `${JSON.stringify(uri.slice(0, 80))} names nothing here. It is one of ${Object.keys(owners).join('…, ')}…, or the number of a document.`,
    );
  }
  const parts: string[] = [];
  const bytes: Buffer[] = [];
  let facts: { mimeType?: string; _meta?: Record<string, unknown> } = {};
  await ask(line, toolset, async (tools) => {
    let cursor: string | undefined;
    do {
      const answer = await tools.read(uri, cursor);
      for (const { uri: _uri, ...part } of answer.contents) {
        facts = { ...part, ...facts };
        if ('text' in part) parts.push(part.text);
        else bytes.push(Buffer.from(part.blob, 'base64'));
      }
      const { nextCursor } = answer;
      cursor = typeof nextCursor === 'string' ? nextCursor : undefined;
    } while (cursor !== undefined);
  });
  if (bytes.length > 0) {
    process.stdout.write(Buffer.concat(bytes));
    return;
  }
  // Parts of a document are whole chunks of it; others are cut anywhere.
  const text = parts.join(toolset === 'kb' ? '\n\n' : '');
  const { nextCursor: _, ...meta } = facts._meta ?? {};
  if (line.flags['json'] === true) {
    printJson({ uri, mimeType: facts.mimeType, ...meta, text });
  } else {
    const shown = process.stdout.isTTY ? printableText(text) : text;
    process.stdout.write(shown.endsWith('\n') ? shown : `${shown}\n`);
  }
  if (line.flags['open'] === true) openFile(meta['source_path']);
}

/** What a table shows alone: the number of a document, the id of a note. */
function uriOf(word: string): string {
  if (/^\d+$/.test(word)) return `carrel://kb/doc/${word}`;
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}$/i.test(word) ? `carrel://notes/${word}` : word;
}
