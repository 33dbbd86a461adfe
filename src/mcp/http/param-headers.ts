import type { IncomingHttpHeaders } from 'node:http';
import { isObject } from '../../base/json.ts';

/**
 * Compares `Mcp-Param-…` headers with the arguments. A tool's schema may mark arguments with `x-mcp-header`; clients of
 * 2026-07-28 repeat these in headers, for proxies that route by them. A server must reject headers that contradict the body,
 * but the SDK checks only tools in its own registry. Returns the fault as a sentence.
 */
export function findParamHeaderFault(schema: unknown, args: unknown, headers: IncomingHttpHeaders): string | undefined {
  for (const [name, property] of Object.entries(membersOf(membersOf(schema)['properties']))) {
    const value = membersOf(args)[name];
    if (value === undefined || value === null) continue;
    const label = membersOf(property)['x-mcp-header'];
    const fault =
      typeof label === 'string'
        ? compare(`Mcp-Param-${label}`, headers[`mcp-param-${label.toLowerCase()}`], name, value)
        : findParamHeaderFault(property, value, headers);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function compare(
  header: string,
  headerValue: string | string[] | undefined,
  name: string,
  value: unknown,
): string | undefined {
  if (typeof headerValue !== 'string') return `The argument ${name} is present, but the header ${header} is missing.`;
  const decoded = decode(headerValue);
  if (decoded === undefined) return `The header ${header} is not canonical Base64 of UTF-8 text.`;
  const isSame =
    typeof value === 'number' ? decimal.test(decoded) && Number(decoded) === value : decoded === String(value);
  return isSame ? undefined : `The header ${header} and the argument ${name} disagree.`;
}

const decimal = /^-?\d+(?:\.\d+)?$/;

/** Decodes a header value: plain text, or `=?base64?…?=`. */
function decode(value: string): string | undefined {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(value)?.[1];
  if (encoded === undefined) return value;
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.toString('base64') !== encoded) return undefined;
  const text = bytes.toString('utf8');
  return Buffer.from(text).equals(bytes) ? text : undefined;
}

function membersOf(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}
