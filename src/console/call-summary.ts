import { isObject } from '../base/json.ts';

/** Arguments that describe a call, most useful first. Omits the ids of uploads and tasks, which are secret. */
const describingArguments = [
  ...['query', 'url', 'quote', 'uri', 'prefix', 'title', 'filename', 'path', 'text', 'note', 'content'],
  ...['thread_id', 'document_id', 'id', 'context_ids', 'document_ids', 'collection', 'tags', 'tag', 'filter'],
];
const queryCharsMax = 200;

/** Returns the argument that describes a call best, in one line. */
export function queryOf(args: unknown): string {
  if (!isObject(args)) return '';
  for (const name of describingArguments) {
    const value = args[name];
    const text = Array.isArray(value)
      ? value.slice(0, 20).filter(isTextOrNumber).join(', ')
      : isTextOrNumber(value)
        ? `${value}`
        : '';
    // Truncated before the replacement, because a text can have millions of characters.
    const line = text
      .slice(0, 4 * queryCharsMax)
      .replace(/\s+/g, ' ')
      .trim();
    if (line !== '') return line.length > queryCharsMax ? `${line.slice(0, queryCharsMax)}…` : line;
  }
  return '';
}

const listFields = [
  ...['results', 'documents', 'entries', 'notes', 'threads', 'jobs', 'sources', 'chunks', 'suggestions', 'words'],
  ...['labels', 'collections'],
];

/** Returns the number of results; undefined if the answer has no list. */
export function resultsOf(answer: object | undefined): number | undefined {
  if (!isObject(answer)) return undefined;
  for (const name of listFields) {
    const list = answer[name];
    if (Array.isArray(list)) return list.length;
  }
  return undefined;
}

function isTextOrNumber(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}
