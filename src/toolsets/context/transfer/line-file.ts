import { createReadStream } from 'node:fs';
import { byteOrderMark } from '../../../base/byte-order-mark.ts';
import { CarrelError } from '../../../base/errors.ts';
import { parseExact } from '../../../base/exact-json.ts';
import { isObject } from '../../../base/json.ts';
import type { NewEntry } from '../../../storage/entries/entry.ts';
import { normaliseTags } from '../inputs.ts';
import { entryOfLine, exportedType } from './entry-lines.ts';
import { type FoundEntry, foundEntry, unreadable } from './found-entry.ts';

/** Reads the entries of a JSONL file: Carrel's export, or a file of the reference memory server. */
export async function* entriesOfLines(path: string, now: string): AsyncGenerator<FoundEntry> {
  let [number, isKnown] = [0, false];
  for await (const raw of linesOf(path)) {
    number += 1;
    const line = raw.replace(byteOrderMark, '');
    if (line.trim() === '') continue;
    const found = entryInLine(line, number, now);
    // If the first line is not an entry, the file has another format.
    if ('reason' in found && !isKnown && found.reason === noEntry) throw unknownKind();
    isKnown = true;
    yield found;
  }
}

const noEntry = 'it is not an entry';

function entryInLine(line: string, number: number, now: string): FoundEntry {
  const place = `line ${number}`;
  const parsed = parseLine(line);
  if (!isObject(parsed)) return { place, reason: noEntry };
  if (parsed['type'] !== exportedType) {
    return foundEntry(
      place,
      () => {
        const entry = entryOfMemory(parsed, now);
        if (entry === undefined) throw unreadable(noEntry);
        return entry;
      },
      { hasNoTime: true },
    );
  }
  const { id } = parsed;
  const known = typeof id === 'number' && Number.isSafeInteger(id) && id > 0 ? id : undefined;
  return foundEntry(known === undefined ? place : `entry ${known}`, () => entryOfLine(parsed), { id: known });
}

function parseLine(line: string): unknown {
  try {
    return parseExact(line);
  } catch {
    return undefined;
  }
}

/** Splits a file at `\n` only, because a line of JSON may contain other separators, such as U+2028. */
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

export function unknownKind(cause?: unknown): CarrelError {
  return new CarrelError(
    'invalid_import',
    'This file format cannot be imported. Supported: exports of Carrel or the memory server (JSONL), mcp-context-server 2.x databases, and conversations.json.',
    { cause },
  );
}

const thread = 'memory';

/** Converts a line of the reference memory server: an entity with its observations, or a relation. */
function entryOfMemory(line: Readonly<Record<string, unknown>>, now: string): NewEntry | undefined {
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
