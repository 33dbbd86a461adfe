import type { CommandLine } from '../command-line.ts';
import { usageError } from '../usage-error.ts';
import { printJson, text } from './show.ts';
import { type OpenTools, textFlag, withoutUndefined, withTools } from './with-tools.ts';

/** The thread to use if none is named. */
const defaultThread = 'memory';

/** Max bytes of standard input. Larger texts belong in a file. */
const stdinBytesMax = 4 * 1024 * 1024;

/** `carrel remember <text>`: stores a memory with the tool store_context. */
export async function rememberCommand(line: CommandLine, open: OpenTools): Promise<void> {
  const { args, flags } = line;
  const content = args.length === 1 && args[0] === '-' ? await readInput() : args.join(' ');
  const entry = withoutUndefined({
    thread_id: textFlag(line, 'thread') ?? defaultThread,
    source: 'user',
    text: content,
    tags: line.lists['tag'],
  });
  const answer = await withTools(open, line, 'context', (tools) => tools.call('store_context', entry));
  if (flags['json'] === true || !process.stdout.isTTY) {
    printJson(answer);
    return;
  }
  process.stdout.write(`stored as carrel://context/${text(answer['context_id'])}\n`);
}

async function readInput(): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of process.stdin) {
    parts.push(part);
    bytes += part.length;
    if (bytes > stdinBytesMax) {
      throw usageError(`Standard input exceeds ${stdinBytesMax} bytes. Save it to a file and use carrel add.`);
    }
  }
  return Buffer.concat(parts).toString('utf8').trim();
}
