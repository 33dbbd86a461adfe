import type { AST } from 'toml-eslint-parser';
import { isObject } from '../../base/json.ts';
import { type ConfigFormat, type Entry, type EntryPath, findEntry, sameData } from './server-entry.ts';
import { FileFault, layoutOf, lineBreakLength, lineEnd, lineStart, type Range } from './text-edits.ts';

/** Edits TOML, where our entry is a table. */
export const tomlFormat: ConfigFormat = {
  async read(text) {
    return (await parse(text)).data;
  },
  async set(text, entryPath, entry) {
    const { top, data } = await parse(text);
    const { eol } = layoutOf(text);
    const ourTable = tablesOf(top, entryPath).find(({ resolvedKey }) => resolvedKey.length === 2);
    const previous = findEntry(data, entryPath);
    if (ourTable === undefined || previous === undefined) {
      const without = await tomlFormat.remove(text, entryPath);
      const before = without.trim() === '' ? '' : `${without.replace(/[\r\n]*$/, '')}${eol}${eol}`;
      return `${before}${[header(entryPath), ...fields(entry)].join(eol)}${eol}`;
    }
    const differs = (key: unknown): boolean => !sameData(previous[String(key)], entry[String(key)]);
    const removals = [
      ...ourTable.body.filter(({ key }) => differs(nameOf(key.keys[0]))),
      ...tablesOf(top, entryPath).filter(({ resolvedKey }) => resolvedKey.length > 2 && differs(resolvedKey[2])),
    ].map(({ range }) => wholeLines(text, range));
    const changed = Object.fromEntries(Object.entries(entry).filter(([key]) => differs(key)));
    const at = lineEnd(text, ourTable.key.range[1]);
    const added = fields(changed).map((line) => `${eol}${line}`);
    return apply(text, [
      ...removals.map((range) => ({ range, content: '' })),
      { range: [at, at], content: added.join('') },
    ]);
  },
  async remove(text, entryPath) {
    const { top } = await parse(text);
    const tables = tablesOf(top, entryPath);
    const pairs = top.body.flatMap((each) => {
      if (each.type === 'TOMLTable' && tables.includes(each)) return [];
      const base = each.type === 'TOMLTable' ? each.resolvedKey : [];
      const candidates = each.type === 'TOMLTable' ? each.body : [each];
      return candidates.filter(({ key }) => isBelow([...base, ...key.keys.map(nameOf)], entryPath));
    });
    const removals = [
      ...tables.map(({ range }) => withBlankLine(text, wholeLines(text, range))),
      ...pairs.map(({ range }) => wholeLines(text, range)),
    ];
    return apply(
      text,
      removals.map((range) => ({ range, content: '' })),
    );
  },
};

async function parse(text: string) {
  const { parseTOML, getStaticTOMLValue, ParseError } = await import('toml-eslint-parser');
  try {
    const program = parseTOML(text, { tomlVersion: '1.0.0' });
    const data: unknown = getStaticTOMLValue(program);
    const [top] = program.body;
    return { top, data: isObject(data) ? { ...data } : {} };
  } catch (error) {
    if (error instanceof RangeError) throw new FileFault(1, 1, 'it is nested too deep');
    if (!(error instanceof ParseError)) throw error;
    throw new FileFault(error.lineNumber, error.column + 1, 'it is not valid TOML');
  }
}

function tablesOf(top: AST.TOMLTopLevelTable, entryPath: EntryPath): AST.TOMLTable[] {
  const tables = top.body.filter((each) => each.type === 'TOMLTable');
  return tables.filter(({ resolvedKey }) => isBelow(resolvedKey, entryPath));
}

function isBelow(key: readonly (string | number)[], { servers, name }: EntryPath): boolean {
  return key[0] === servers && key[1] === name;
}

function nameOf(key: AST.TOMLBare | AST.TOMLQuoted | undefined): string {
  if (key === undefined) return '';
  return key.type === 'TOMLBare' ? key.name : key.value;
}

function header({ servers, name }: EntryPath): string {
  return `[${servers}.${name}]`;
}

function fields(entry: Entry): string[] {
  return Object.entries(entry).map(([key, value]) => `${keyText(key)} = ${valueText(value)}`);
}

function keyText(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : stringText(key);
}

function valueText(value: unknown): string {
  if (typeof value === 'string') return stringText(value);
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`;
  if (value instanceof Date) return value.toISOString();
  if (isObject(value)) return `{ ${fields(value).join(', ')} }`;
  return String(value);
}

/** Quotes a text. TOML has the same escapes as JSON, but U+007F must be escaped, too. */
function stringText(text: string): string {
  return JSON.stringify(text).replaceAll('\u007f', '\\u007f');
}

/** Extends the range to whole lines. */
function wholeLines(text: string, [start, end]: Range): Range {
  const to = lineEnd(text, end);
  return [lineStart(text, start), to + lineBreakLength(text, to)];
}

/** Extends the range to the preceding blank line, if a blank line or the end of the file follows. */
function withBlankLine(text: string, [start, end]: Range): Range {
  const blank = /(?:^|(?:\r\n|\r|\n))(\r\n|\r|\n)$/.exec(text.slice(0, start))?.[1]?.length ?? 0;
  return /^\s*$/.test(text.slice(end)) || /^[\r\n]/.test(text.slice(end)) ? [start - blank, end] : [start, end];
}

function apply(text: string, edits: readonly { range: Range; content: string }[]): string {
  let changed = text;
  for (const { range, content } of edits.toSorted((a, b) => b.range[0] - a.range[0])) {
    changed = changed.slice(0, range[0]) + content + changed.slice(range[1]);
  }
  return changed;
}
