import type { YAMLMap } from 'yaml';
import { isObject } from '../../base/json.ts';
import type { ConfigFormat, Entry, EntryPath } from './server-entry.ts';
import { FileFault, faultAt, layoutOf, lineBreakLength, lineEnd, lineStart, type Range } from './text-edits.ts';

/** Edits YAML, where the servers are a list of entries with names. */
export const yamlFormat: ConfigFormat = {
  async read(text) {
    return (await parse(text)).data;
  },
  async set(text, entryPath, entry) {
    const { root, servers, items } = await parse(text, entryPath);
    const { eol } = layoutOf(text);
    if (root === undefined) {
      const before = text.trim() === '' ? entryPath.initialText : `${text.trimEnd()}\n`;
      return `${before}${entryPath.servers}:\n${await itemText(entry, '  ')}\n`.replaceAll(/\r\n|\n/g, eol);
    }
    if (servers === undefined) {
      const before = /[\r\n]$/.test(text) ? text : `${text}${eol}`;
      return `${before}${entryPath.servers}:${eol}${(await itemText(entry, '  ')).replaceAll('\n', eol)}${eol}`;
    }
    const ourItem = items.find(({ name }) => name === entryPath.name);
    if (servers.isFlow && items.length > 0) {
      if (ourItem !== undefined) return splice(text, ourItem.range, JSON.stringify(entry));
      return splice(text, [servers.range[1] - 1, servers.range[1] - 1], `, ${JSON.stringify(entry)}`);
    }
    const last = items.at(-1);
    if (last === undefined) {
      // The list is missing, null or []. A comment after it stays on its line.
      const at = lineEnd(text, servers.range[1]);
      const head = `${text.slice(0, servers.range[0]).trimEnd()}${text.slice(servers.range[1], at)}`;
      return `${head}${eol}${(await itemText(entry, '  ')).replaceAll('\n', eol)}${text.slice(at)}`;
    }
    const indent = ' '.repeat(servers.range[0] - lineStart(text, servers.range[0]));
    const item = (await itemText(entry, indent)).replaceAll('\n', eol);
    if (ourItem !== undefined) return splice(text, [lineStart(text, ourItem.range[0]), ourItem.range[1]], item);
    const at = lineEnd(text, last.range[1]);
    return splice(text, [at, at], `${eol}${item}`);
  },
  async remove(text, entryPath) {
    const { servers, items } = await parse(text, entryPath);
    const ourItem = items.find(({ name }) => name === entryPath.name);
    if (servers === undefined || ourItem === undefined) return text;
    if (items.length === 1) {
      const { valueStart, range, isFlow } = servers;
      // Keeps comments between the key and our item.
      const comments = isFlow ? '' : text.slice(valueStart, lineStart(text, range[0])).replace(/(\r\n|\r|\n)$/, '');
      return `${text.slice(0, valueStart)} []${comments}${text.slice(isFlow ? range[1] : ourItem.range[1])}`;
    }
    if (servers.isFlow) {
      const after = /^\s*,\s*/.exec(text.slice(ourItem.range[1]))?.[0].length ?? 0;
      const before = after > 0 ? 0 : (/\s*,\s*$/.exec(text.slice(0, ourItem.range[0]))?.[0].length ?? 0);
      return splice(text, [ourItem.range[0] - before, ourItem.range[1] + after], '');
    }
    const end = lineEnd(text, ourItem.range[1]);
    return splice(text, [lineStart(text, ourItem.range[0]), end + lineBreakLength(text, end)], '');
  },
};

interface Parsed {
  data: Record<string, unknown>;
  /** Undefined for an empty file. */
  root: YAMLMap | undefined;
  /** `valueStart` is the offset after the colon. */
  servers: { valueStart: number; range: Range; isFlow: boolean } | undefined;
  items: { name: unknown; range: Range }[];
}

async function parse(text: string, entryPath?: EntryPath): Promise<Parsed> {
  const { isMap, isScalar, isSeq, parseDocument } = await import('yaml');
  // The library itself rejects aliases that expand exponentially.
  const document = parseDocument(text, { prettyErrors: true });
  const [error] = document.errors;
  if (error !== undefined)
    throw new FileFault(error.linePos?.[0].line ?? 1, error.linePos?.[0].col ?? 1, 'it is not valid YAML');
  const root = document.contents;
  if (root === null || (isScalar(root) && root.value === null))
    return { data: {}, root: undefined, servers: undefined, items: [] };
  if (!isMap(root)) throw faultAt(text, root.range?.[0] ?? 0, 'expected a mapping here');
  const content: unknown = document.toJS();
  const data = isObject(content) ? { ...content } : {};
  const pair = root.items.find(({ key }) => isScalar(key) && key.value === entryPath?.servers);
  if (pair === undefined) return { data, root, servers: undefined, items: [] };
  const { key, value } = pair;
  const keyEnd = isScalar(key) ? (key.range?.[1] ?? 0) : 0;
  const valueStart = text.indexOf(':', keyEnd) + 1;
  if (value === null || (isScalar(value) && value.value === null)) {
    const end = isScalar(value) && value.source !== '' ? (value.range?.[1] ?? valueStart) : valueStart;
    return { data, root, servers: { valueStart, range: [valueStart, end], isFlow: false }, items: [] };
  }
  if (!isSeq(value)) throw faultAt(text, keyEnd, `${entryPath?.servers} should be a list`);
  const items = value.items.map((item) => {
    if (!isMap(item) || !item.range) return { name: undefined, range: [keyEnd, keyEnd] as const };
    return { name: item.get('name'), range: trimmed(text, item.range) };
  });
  if (items.filter(({ name }) => name === entryPath?.name).length > 1) {
    throw faultAt(
      text,
      items.findLast(({ name }) => name === entryPath?.name)?.range[0] ?? 0,
      `${entryPath?.name} appears twice`,
    );
  }
  const [start = keyEnd, end = keyEnd] = value.range ?? [];
  return { data, root, servers: { valueStart, range: [start, end], isFlow: value.flow === true }, items };
}

/** Excludes the trailing space that the library includes in a range. */
function trimmed(text: string, [start, end]: readonly number[]): Range {
  const from = start ?? 0;
  return [from, from + text.slice(from, end).trimEnd().length];
}

async function itemText(entry: Entry, indent: string): Promise<string> {
  const { stringify } = await import('yaml');
  const lines = stringify([entry], { lineWidth: 0 }).trimEnd().split('\n');
  return lines.map((line) => `${indent}${line}`).join('\n');
}

function splice(text: string, [start, end]: Range, content: string): string {
  return text.slice(0, start) + content + text.slice(end);
}
