import type { Node, ParseError } from 'jsonc-parser';
import { isObject } from '../../base/json.ts';
import { insertProperty, removeProperty, replaceValue } from './json-edit.ts';
import { type ConfigFormat, type Entry, sameData } from './server-entry.ts';
import { faultAt, type Layout, layoutOf } from './text-edits.ts';

/** Edits JSON, which may have comments, trailing commas and any layout. */
export const jsonFormat: ConfigFormat = {
  async read(text) {
    const { root, toData } = await parse(text);
    const value: unknown = root === undefined ? {} : toData(root);
    return isObject(value) ? { ...value } : {};
  },
  async set(text, { servers, name, initialText }, entry) {
    const { root } = await parse(text);
    const layout = layoutOf(text);
    if (root === undefined) {
      const content = JSON.stringify({ [servers]: { [name]: entry } }, null, layout.unit).replaceAll('\n', layout.eol);
      const before = text.trim() === '' ? initialText : `${text.trimEnd()}${layout.eol}`;
      return `${before}${content}${layout.eol}`;
    }
    const list = property(text, root, servers);
    if (list === undefined) return insertProperty(text, root, servers, { [name]: entry }, layout);
    const container = objectOf(text, list, servers);
    const previous = property(text, container, name);
    if (previous === undefined) return insertProperty(text, container, name, entry, layout);
    const previousValue = valueNode(previous);
    if (previousValue.type !== 'object') return replaceValue(text, previousValue, entry, layout);
    return setFields(text, [servers, name], entry, layout);
  },
  async remove(text, entryPath) {
    const { root } = await parse(text);
    const found = root && locate(text, root, [entryPath.servers, entryPath.name]);
    return found === undefined ? text : removeProperty(text, found.object, found.property);
  },
};

/** Sets only fields that differ, one at a time, so that the user's comments in our entry stay. */
async function setFields(source: string, path: string[], entry: Entry, layout: Layout): Promise<string> {
  let text = source;
  const step = async (change: (object: Node, text: string) => string): Promise<void> => {
    const { root } = await parse(text);
    const found = root && locate(text, root, path);
    if (found !== undefined) text = change(valueNode(found.property), text);
  };
  const names = new Set(Object.keys(entry));
  const { root, toData } = await parse(text);
  const found = root && locate(text, root, path);
  const previous: unknown = found === undefined ? {} : toData(valueNode(found.property));
  for (const key of Object.keys(isObject(previous) ? previous : {})) {
    if (names.has(key)) continue;
    await step((object, now) => {
      const field = property(now, object, key);
      return field === undefined ? now : removeProperty(now, object, field);
    });
  }
  for (const [key, value] of Object.entries(entry)) {
    if (isObject(previous) && sameData(previous[key], value)) continue;
    await step((object, now) => {
      const field = property(now, object, key);
      if (field === undefined) return insertProperty(now, object, key, value, layout);
      return replaceValue(now, valueNode(field), value, layout);
    });
  }
  return text;
}

async function parse(text: string): Promise<{ root: Node | undefined; toData: (node: Node) => unknown }> {
  const { parseTree, printParseErrorCode, getNodeValue } = await import('jsonc-parser');
  const errors: ParseError[] = [];
  let root: Node | undefined;
  try {
    root = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw faultAt(text, 0, 'it is nested too deep');
  }
  const [first] = errors;
  if (first !== undefined) throw faultAt(text, first.offset, describe(printParseErrorCode(first.error)));
  if (root !== undefined && root.type !== 'object') throw faultAt(text, root.offset, 'an object is expected here');
  return { root, toData: getNodeValue };
}

function describe(code: string): string {
  return `${code.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase()} (it is not valid JSON)`;
}

function locate(text: string, root: Node, path: readonly string[]): { object: Node; property: Node } | undefined {
  let object = root;
  let found: Node | undefined;
  for (const [index, key] of path.entries()) {
    if (index > 0 && found !== undefined) object = objectOf(text, found, path[index - 1] ?? '');
    found = property(text, object, key);
    if (found === undefined) return undefined;
  }
  return found && { object, property: found };
}

/** Finds a property. Throws if the key appears twice, because parsers disagree on which one counts. */
function property(text: string, object: Node, key: string): Node | undefined {
  const all = (object.children ?? []).filter(({ children }) => children?.[0]?.value === key);
  const [first, second] = all;
  if (second !== undefined) throw faultAt(text, second.offset, `${JSON.stringify(key)} appears twice`);
  return first;
}

function objectOf(text: string, { children, offset }: Node, key: string): Node {
  const value = children?.[1];
  if (value?.type === 'object') return value;
  throw faultAt(text, value?.offset ?? offset, `${JSON.stringify(key)} should be an object`);
}

function valueNode({ children, ...node }: Node): Node {
  return children?.[1] ?? node;
}
