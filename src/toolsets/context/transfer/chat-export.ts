import { isObject } from '../../../base/json.ts';
import type { NewEntry } from '../../../storage/contracts/entries.ts';
import { timeOf } from './entry-lines.ts';

/** The conversations of a ChatGPT or Claude export (conversations.json), each a thread, turn by turn. */
export function* entriesOfChats(conversations: readonly unknown[]): Generator<NewEntry> {
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

function* claudeTurns(conversation: Json, messages: readonly unknown[]): Generator<NewEntry> {
  for (const message of messages) {
    if (!isObject(message)) continue;
    const text =
      typeof message['text'] === 'string' && message['text'] !== '' ? message['text'] : partsOf(message['content']);
    const source = message['sender'] === 'human' ? 'user' : 'agent';
    yield* turn(`claude:${conversation['uuid']}`, conversation['name'], source, text, message['created_at']);
  }
}

/** Newer exports have the text only in parts. */
function partsOf(content: unknown): string {
  if (!Array.isArray(content)) return '';
  return content
    .filter((part) => isObject(part) && part['type'] === 'text' && typeof part['text'] === 'string')
    .map((part) => part.text)
    .join('\n');
}

/** Edits create branches. The one that the user saw last is the path from the current node up. */
function* chatgptTurns(conversation: Json, mapping: Json): Generator<NewEntry> {
  const path: Json[] = [];
  const seen = new Set<unknown>();
  for (let at = conversation['current_node']; typeof at === 'string' && !seen.has(at); ) {
    seen.add(at);
    const node = Object.hasOwn(mapping, at) ? mapping[at] : undefined;
    if (!isObject(node)) break;
    path.unshift(node);
    at = node['parent'];
  }
  const thread = `chatgpt:${conversation['conversation_id'] ?? conversation['id']}`;
  for (const { message } of path) {
    if (!isObject(message) || !isObject(message['author']) || !isObject(message['content'])) continue;
    const { role } = message['author'];
    if (role !== 'user' && role !== 'assistant') continue;
    const { parts } = message['content'];
    const text = Array.isArray(parts) ? parts.filter((part) => typeof part === 'string').join('\n') : '';
    const time = message['create_time'] ?? conversation['create_time'];
    yield* turn(thread, conversation['title'], role === 'user' ? 'user' : 'agent', text, time);
  }
}

function* turn(
  threadId: string,
  title: unknown,
  source: 'user' | 'agent',
  text: string,
  time: unknown,
): Generator<NewEntry> {
  if (text.trim() === '') return;
  const createdAt = timeOf(time);
  const metadata = typeof title === 'string' && title !== '' ? { title } : undefined;
  yield {
    threadId,
    source,
    text,
    metadata,
    tags: ['chat'],
    images: [],
    summary: undefined,
    createdAt,
    updatedAt: createdAt,
  };
}
