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
  /** The key under which the file lists the servers, as a map by name or as a list of named entries. */
  readonly servers: string;
  readonly name: string;
  /** Initial content of a new file. */
  readonly initialText: string;
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
  const isSafe =
    sameData(findEntry(after, entryPath), entry) &&
    sameData(withoutEntry(before, entryPath), withoutEntry(after, entryPath));
  if (!isSafe) {
    throw new FileFault(1, 1, "the file's layout can't be edited safely; --print shows what to add manually");
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
export function sameData(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((each, index) => sameData(each, b[index]));
  }
  if (a instanceof Date || b instanceof Date) return String(a) === String(b);
  if (!isObject(a) || !isObject(b)) return Object.is(a, b);
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && sameData(a[key], b[key]));
}
