import type { CommandLine } from '../command-line.ts';
import { printableText } from '../terminal/printable.ts';
import { namedUri } from './named-uri.ts';
import { openFile } from './open-file.ts';
import { printJson } from './show.ts';
import { type OpenTools, withTools } from './with-tools.ts';

/** `carrel get <uri>`: prints the full text, which resources/read returns in parts. */
export async function getCommand(line: CommandLine, open: OpenTools): Promise<void> {
  const { uri, toolset } = namedUri(line.args[0] ?? '');
  const parts: string[] = [];
  const bytes: Buffer[] = [];
  let details: { mimeType?: string; _meta?: Record<string, unknown> } = {};
  await withTools(open, line, toolset, async (tools) => {
    let cursor: string | undefined;
    do {
      const answer = await tools.read(uri, cursor);
      for (const { uri: _uri, ...part } of answer.contents) {
        details = { ...part, ...details };
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
  // Each part of a document is a list of chunks, which are separate paragraphs. Other texts can be split anywhere.
  const text = parts.join(toolset === 'kb' ? '\n\n' : '');
  const { nextCursor: _, ...meta } = details._meta ?? {};
  if (line.flags['json'] === true) {
    printJson({ uri, mimeType: details.mimeType, ...meta, text });
  } else {
    const output = process.stdout.isTTY ? printableText(text) : text;
    process.stdout.write(output.endsWith('\n') ? output : `${output}\n`);
  }
  if (line.flags['open'] === true) openFile(meta['source_path']);
}
