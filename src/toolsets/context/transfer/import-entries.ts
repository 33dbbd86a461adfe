import { createHash } from 'node:crypto';
import { closeSync, createReadStream, openSync, readFileSync, readSync } from 'node:fs';
import { CarrelError } from '../../../base/errors.ts';
import { isObject } from '../../../base/json.ts';
import type { EntryStore, NewEntry } from '../../../storage/contracts/entries.ts';
import { summaryCharsMin } from '../context-slice.ts';
import { normaliseTags } from '../inputs.ts';
import { entriesOfChats, isChatExport } from './chat-export.ts';
import { entryOfLine, exportedType } from './entry-lines.ts';
import { entriesOfOriginal } from './original-server.ts';

const batchSize = 100;
/** Some programs put it at the start of UTF-8 files. */
const byteOrderMark = /^\ufeff/;

/**
 * Imports a file of any known kind (our own export, a database of the original server, the memory server's file, a chat
 * export). Importing the same file again within 30 days changes nothing.
 */
export async function importEntries(entries: EntryStore, path: string, now: string): Promise<number> {
  const file = await hashOf(path);
  let count = 0;
  let batch: NewEntry[] = [];
  const write = async () => {
    const idempotency = { key: `import ${file} ${count}`, bodyHash: file };
    if (batch.length > 0) await entries.store({ entries: batch, idempotency });
    count += batch.length;
    batch = [];
  };
  for await (const entry of entriesOfFile(path, now)) {
    batch.push({ ...entry, summaryWanted: entry.summary === undefined && entry.text.length >= summaryCharsMin });
    if (batch.length >= batchSize) await write();
  }
  await write();
  return count;
}

async function* entriesOfFile(path: string, now: string): AsyncGenerator<NewEntry> {
  const start = firstBytes(path);
  if (start.startsWith('SQLite format 3\0')) yield* entriesOfOriginal(path);
  else if (start.replace(byteOrderMark, '').trimStart().startsWith('[')) {
    const parsed = parse(readFileSync(path, 'utf8').replace(byteOrderMark, ''));
    if (!isChatExport(parsed)) throw unknownKind();
    yield* entriesOfChats(parsed);
  } else yield* entriesOfLines(path, now);
}

async function* entriesOfLines(path: string, now: string): AsyncGenerator<NewEntry> {
  for await (const given of linesOf(path)) {
    const line = given.replace(byteOrderMark, '');
    if (line.trim() === '') continue;
    const parsed = parse(line);
    if (!isObject(parsed)) throw unknownKind();
    const entry = parsed['type'] === exportedType ? entryOfLine(parsed) : entryOfMemory(parsed, now);
    if (entry === undefined) throw unknownKind();
    yield entry;
  }
}

/** JSON lines end with \n only. Other line separators (U+2028) may occur within one. */
async function* linesOf(path: string): AsyncGenerator<string> {
  let rest: string[] = [];
  for await (const part of createReadStream(path, 'utf8')) {
    const [first = '', ...others] = String(part).split('\n');
    rest.push(first);
    for (const next of others) {
      yield rest.join('');
      rest = [next];
    }
  }
  yield rest.join('');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw unknownKind(error);
  }
}

function unknownKind(cause?: unknown): CarrelError {
  return new CarrelError(
    'invalid_import',
    'This kind of file cannot be imported. Importable are exports of Carrel or of the memory server (JSONL), databases of mcp-context-server 2.x, and conversations.json files.',
    { cause },
  );
}

function firstBytes(path: string): string {
  const buffer = Buffer.alloc(64);
  const file = openSync(path, 'r');
  try {
    return buffer.toString('utf8', 0, readSync(file, buffer));
  } finally {
    closeSync(file);
  }
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const part of createReadStream(path)) hash.update(part);
  return hash.digest('hex');
}

const thread = 'memory';

/** One line of the reference memory server's file: an entity with its observations, or a relation between two. */
export function entryOfMemory(line: Readonly<Record<string, unknown>>, now: string): NewEntry | undefined {
  const common = {
    threadId: thread,
    source: 'agent' as const,
    images: [],
    summary: undefined,
    createdAt: now,
    updatedAt: now,
  };
  const text = (key: string) => (typeof line[key] === 'string' ? line[key] : '');
  if (line['type'] === 'entity' && text('name') !== '') {
    const observations = Array.isArray(line['observations']) ? line['observations'].map(String) : [];
    const kind = text('entityType');
    return {
      ...common,
      text: [`${text('name')}${kind === '' ? '' : ` (${kind})`}`, ...observations.map((each) => `- ${each}`)].join(
        '\n',
      ),
      metadata: { entity: text('name'), entity_type: kind },
      tags: normaliseTags(kind === '' ? [] : [kind]),
    };
  }
  if (line['type'] === 'relation' && text('from') !== '' && text('to') !== '') {
    return {
      ...common,
      text: `${text('from')} ${text('relationType')} ${text('to')}`,
      metadata: { from: text('from'), to: text('to'), relation_type: text('relationType') },
      tags: ['relation'],
    };
  }
  return undefined;
}
