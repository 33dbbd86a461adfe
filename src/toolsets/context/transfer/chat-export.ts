import { createHash } from 'node:crypto';
import { isObject } from '../../../base/json.ts';
import { isBlank } from '../../../base/text.ts';
import { type ImportItem, readItem } from './import-item.ts';
import { timeOf } from './line-file.ts';

/** Reads the messages of a ChatGPT or Claude export (conversations.json). Each conversation becomes a thread. */
export function* entriesOfChats(conversations: readonly unknown[]): Generator<ImportItem> {
  for (const conversation of conversations) {
    if (!isObject(conversation)) continue;
    if (Array.isArray(conversation['chat_messages'])) yield* claudeTurns(conversation, conversation['chat_messages']);
    else if (isObject(conversation['mapping'])) yield* chatgptTurns(conversation, conversation['mapping']);
  }
}

export function isChatExport(value: unknown): value is readonly unknown[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((each) => isObject(each) && (Array.isArray(each['chat_messages']) || isObject(each['mapping'])))
  );
}

type Json = Readonly<Record<string, unknown>>;

function* claudeTurns(conversation: Json, messages: readonly unknown[]): Generator<ImportItem> {
  const threadId = `claude:${threadName(conversation['uuid'], conversation)}`;
  for (const [index, message] of messages.entries()) {
    if (!isObject(message)) continue;
    const text =
      typeof message['text'] === 'string' && message['text'] !== '' ? message['text'] : partsOf(message['content']);
    const source = message['sender'] === 'human' ? 'user' : 'agent';
    yield* turn({ threadId, index, title: conversation['name'], source, text, time: message['created_at'] });
  }
}

/** Returns a name that is the same in every import of a conversation, so that repeated imports use the same thread. */
function threadName(id: unknown, conversation: Json): string {
  if (typeof id === 'string' && id !== '') return id;
  return createHash('sha256').update(JSON.stringify(conversation)).digest('hex').slice(0, 16);
}

/** Joins the text parts of a message. In newer exports, only these parts contain the text. */
function partsOf(content: unknown): string {
  if (!Array.isArray(content)) return '';
  return content
    .filter((part) => isObject(part) && part['type'] === 'text' && typeof part['text'] === 'string')
    .map((part) => part.text)
    .join('\n');
}

/**
 * Reads the branch that the user saw last: the path from the current node to the root. Edits create other branches.
 */
function* chatgptTurns(conversation: Json, mapping: Json): Generator<ImportItem> {
  const path: Json[] = [];
  const seen = new Set<unknown>();
  for (let at = conversation['current_node']; typeof at === 'string' && !seen.has(at); ) {
    seen.add(at);
    const node = Object.hasOwn(mapping, at) ? mapping[at] : undefined;
    if (!isObject(node)) break;
    path.unshift(node);
    at = node['parent'];
  }
  const threadId = `chatgpt:${threadName(conversation['conversation_id'] ?? conversation['id'], conversation)}`;
  for (const [index, { message }] of path.entries()) {
    if (!isObject(message) || !isObject(message['author']) || !isObject(message['content'])) continue;
    const { role } = message['author'];
    if (role !== 'user' && role !== 'assistant') continue;
    const { parts } = message['content'];
    const text = Array.isArray(parts) ? parts.filter((part) => typeof part === 'string').join('\n') : '';
    const time = message['create_time'] ?? conversation['create_time'];
    const source = role === 'user' ? 'user' : 'agent';
    yield* turn({ threadId, index, title: conversation['title'], source, text, time });
  }
}

interface Turn {
  threadId: string;
  index: number;
  title: unknown;
  source: 'user' | 'agent';
  text: string;
  time: unknown;
}

function* turn({ threadId, index, title, source, text, time }: Turn): Generator<ImportItem> {
  if (isBlank(text)) return;
  yield readItem(`message ${index + 1} of ${threadId}`, () => {
    const createdAt = timeOf(time);
    return {
      threadId,
      source,
      text,
      metadata: typeof title === 'string' && title !== '' ? { title } : undefined,
      tags: ['chat'],
      images: [],
      summary: undefined,
      createdAt,
      updatedAt: createdAt,
    };
  });
}
