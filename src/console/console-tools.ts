import { isObject } from '../base/json.ts';
import type { FileToSend } from '../http/send-file.ts';

/** The tools that the console calls. The calls get the same checks and limits as those of clients. */
export interface ConsoleTools {
  has(name: string): boolean;
  names(): readonly string[];
  /** Returns the `structuredContent`; throws on failure. */
  call(name: string, args: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** Returns the original file of a document. */
  original(id: number): Promise<FileToSend>;
}

/** A request, as passed to pages. */
export interface Visit {
  tools: ConsoleTools;
  /** The decoded path after the page's own path. */
  subpath: string;
  query: URLSearchParams;
  /** The fields of a submitted form. */
  form: URLSearchParams;
}

/** Reads a field of a tool's answer. A field that is missing or has another type counts as empty. */
export const read = {
  text: (from: Record<string, unknown>, name: string): string => {
    const value = from[name];
    return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
  },
  number: (from: Record<string, unknown>, name: string): number | undefined => {
    const value = from[name];
    return typeof value === 'number' ? value : undefined;
  },
  texts: (from: Record<string, unknown>, name: string): string[] => {
    const value = from[name];
    return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
  },
  object: (from: Record<string, unknown>, name: string): Record<string, unknown> => asObject(from[name]),
  list: (from: Record<string, unknown>, name: string): Record<string, unknown>[] => {
    const value = from[name];
    return Array.isArray(value) ? value.map(asObject) : [];
  },
};

function asObject(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}
