import { isCarrelError } from '../../base/errors.ts';
import type { ReadOptions } from '../document.ts';
import { readXlsx } from './xlsx.ts';

/** Reads a workbook inside a document. Undefined if it can't be read; the document is read anyway. */
export function readEmbedded(bytes: Uint8Array, name: string, options: ReadOptions): string | undefined {
  if (!name.toLowerCase().endsWith('.xlsx')) return undefined;
  try {
    // Plain text, because it becomes a paragraph, in which Markdown would be escaped.
    return readXlsx(bytes, { ...options, mode: 'text' }).text;
  } catch (error) {
    if (isCarrelError(error)) return undefined;
    throw error;
  }
}
