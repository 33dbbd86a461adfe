import type { Node } from 'jsonc-parser';
import { type Layout, lineStart } from './text-edits.ts';

/** Appends a property. A comment after the previous property stays next to that one. */
export function insertProperty(text: string, object: Node, key: string, value: unknown, layout: Layout): string {
  const { eol, unit } = layout;
  const closingIndent = indentAt(text, object.offset);
  const last = object.children?.at(-1);
  const end = object.offset + object.length - 1;
  const indent =
    last === undefined || !startsLine(text, last.offset) ? closingIndent + unit : indentAt(text, last.offset);
  const property = `${eol}${indent}${JSON.stringify(key)}: ${format(value, indent, layout)}`;
  if (last === undefined) {
    const inner = text.slice(object.offset + 1, end).trimEnd();
    return `${text.slice(0, object.offset + 1)}${inner}${property}${eol}${closingIndent}${text.slice(end)}`;
  }
  const after = last.offset + last.length;
  const comma = commaAfter(text, after);
  const at = endOfLine(text, comma ?? after);
  const isOneLine = !/[\r\n]/.test(text.slice(at, end));
  const tail = isOneLine ? `${eol}${closingIndent}${text.slice(end)}` : text.slice(at);
  const head = comma === undefined ? `${text.slice(0, after)},${text.slice(after, at)}` : text.slice(0, at);
  return `${isOneLine ? head.trimEnd() : head}${property}${comma === undefined ? '' : ','}${tail}`;
}

export function replaceValue(text: string, node: Node, value: unknown, layout: Layout): string {
  const newText = format(value, indentAt(text, node.offset), layout);
  return `${text.slice(0, node.offset)}${newText}${text.slice(node.offset + node.length)}`;
}

export function removeProperty(text: string, object: Node, property: Node): string {
  const siblings = object.children ?? [];
  const index = siblings.findIndex(({ offset }) => offset === property.offset);
  const before = siblings[index - 1];
  const isLast = index === siblings.length - 1;
  const after = property.offset + property.length;
  const comma = commaAfter(text, after);
  const from = startsLine(text, property.offset) ? lineBreakBefore(text, property.offset) : property.offset;
  let head = text.slice(0, from);
  const tail = text.slice(comma ?? after);
  if (isLast && comma === undefined && before !== undefined) {
    const previousComma = commaAfter(text, before.offset + before.length);
    if (previousComma !== undefined) head = head.slice(0, previousComma - 1) + head.slice(previousComma);
  }
  const end = object.offset + object.length - 1;
  const isEmpty =
    siblings.length === 1 &&
    text.slice(object.offset + 1, from).trim() === '' &&
    text.slice(comma ?? after, end).trim() === '';
  return isEmpty ? `${text.slice(0, object.offset)}{}${text.slice(end + 1)}` : head + tail;
}

function format(value: unknown, indent: string, { eol, unit }: Layout): string {
  return JSON.stringify(value, null, unit).replaceAll('\n', `${eol}${indent}`);
}

/** Returns the offset after the next comma, skipping spaces and comments. Undefined if something else comes first. */
function commaAfter(text: string, offset: number): number | undefined {
  const skipped = /^(?:\s|\/\/[^\r\n]*|\/\*[\s\S]*?\*\/)*/.exec(text.slice(offset))?.[0].length ?? 0;
  return text[offset + skipped] === ',' ? offset + skipped + 1 : undefined;
}

/** Returns the end of the line if only comments follow, else the offset itself. */
function endOfLine(text: string, offset: number): number {
  const skipped = /^[ \t]*(?:\/\*[^\r\n]*?\*\/[ \t]*)*(?:\/\/[^\r\n]*)?(?=[\r\n])/.exec(text.slice(offset))?.[0];
  return offset + (skipped?.length ?? 0);
}

function indentAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(lineStart(text, offset), offset))?.[0] ?? '';
}

function startsLine(text: string, offset: number): boolean {
  const start = lineStart(text, offset);
  return start > 0 && text.slice(start, offset).trim() === '';
}

function lineBreakBefore(text: string, offset: number): number {
  const start = lineStart(text, offset);
  return text.slice(0, start).endsWith('\r\n') ? start - 2 : start - 1;
}
