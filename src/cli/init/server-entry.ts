import { isObject } from '../../base/json.ts';
import { FileFault } from './text-edits.ts';

export type Entry = Readonly<Record<string, unknown>>;

/** Reads and edits files of one format. Everything except our entry stays byte for byte the same. */
export interface ConfigFormat {
  /** Returns the whole file as plain data. An empty file is an empty object. */
  read(text: string): Promise<Record<string, unknown>>;
  /** Adds our entry or replaces the existing one. */
  set(text: string, entryPath: EntryPath, entry: Entry): Promise<string>;
  remove(text: string, entryPath: EntryPath): Promise<string>;
}

export interface EntryPath {
  /** The key in the file under which the servers are listed: as a map by name, or as a list of entries with a name. */
  readonly servers: string;
  readonly name: string;
  /** Initial content of a new file. */
  readonly start: string;
}

/** Entry keys that say how to reach the server. The user's other keys are kept. */
const connectionKeys: ReadonlySet<string> = new Set([
  'name',
  'type',
  'command',
  'args',
  'url',
  'serverUrl',
  'httpUrl',
  'transport',
  'headers',
  'http_headers',
  'bearer_token_env_var',
  'requestOptions',
]);

/** Entry keys that are only valid with a command. Codex rejects them in an entry with a URL. */
const commandOnly: ReadonlySet<string> = new Set(['env', 'env_vars', 'envFile', 'cwd']);

/** Adds the user's own keys in the previous entry to the new one. */
export function mergeEntry(previous: Entry | undefined, newEntry: Entry): Entry {
  const additions = Object.entries(previous ?? {}).filter(
    ([key]) => !connectionKeys.has(key) && ('command' in newEntry || !commandOnly.has(key)),
  );
  return { ...newEntry, ...Object.fromEntries(additions) };
}

/** Finds our entry in a map or list. */
export function findEntry(content: Record<string, unknown>, { servers, name }: EntryPath): Entry | undefined {
  const list = Object.hasOwn(content, servers) ? content[servers] : undefined;
  if (Array.isArray(list)) return list.find((each): each is Entry => isObject(each) && each['name'] === name);
  const found = isObject(list) && Object.hasOwn(list, name) ? list[name] : undefined;
  return isObject(found) ? found : undefined;
}

/** True if the entry starts Carrel or has only a URL. Otherwise it is another server with the same name. */
export function isOurs(entry: Entry): boolean {
  const { command, args, url, serverUrl, httpUrl, transport } = entry;
  const nested = isObject(transport) ? transport : {};
  const words = [command, nested['command'], ...[args, nested['args']].flat()].filter(
    (word) => typeof word === 'string',
  );
  if (words.some((word) => /(^|[\\/])carrel(\.js|\.cmd|\.exe|@[\w.-]+)?$/.test(word))) return true;
  return [url, serverUrl, httpUrl, nested['url']].some((address) => typeof address === 'string' && words.length === 0);
}

/** Throws if anything except our entry differs. This is the last check before writing. */
export function checkOutcome(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
  entryPath: EntryPath,
  entry: Entry | undefined,
): void {
  const isRight =
    sameData(findEntry(after, entryPath), entry) &&
    sameData(withoutEntry(before, entryPath), withoutEntry(after, entryPath));
  if (!isRight) {
    throw new FileFault(1, 1, "its layout can't be edited safely; --print shows what to add manually");
  }
}

/** Returns everything except our entry. An empty list of servers counts as missing. */
function withoutEntry(content: Record<string, unknown>, { servers, name }: EntryPath): unknown {
  const { [servers]: list, ...others } = content;
  if (Array.isArray(list)) {
    const remaining = list.filter((each) => !isObject(each) || each['name'] !== name);
    return remaining.length === 0 ? others : { ...others, [servers]: remaining };
  }
  if (!isObject(list)) return list === undefined || list === null ? others : content;
  const { [name]: _, ...remaining } = list;
  return Object.keys(remaining).length === 0 ? others : { ...others, [servers]: remaining };
}

/** True if both are equal as data, ignoring prototypes and key order. */
export function sameData(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) || Array.isArray(other)) {
    if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false;
    return one.every((each, index) => sameData(each, other[index]));
  }
  if (one instanceof Date || other instanceof Date) return String(one) === String(other);
  if (!isObject(one) || !isObject(other)) return Object.is(one, other);
  const keys = Object.keys(one);
  if (keys.length !== Object.keys(other).length) return false;
  return keys.every((key) => Object.hasOwn(other, key) && sameData(one[key], other[key]));
}
