import { read } from '../console-tools.ts';

export const memoryPath = '/memories';

export function threadUrl(thread: string): string {
  return `${memoryPath}?thread=${encodeURIComponent(thread)}`;
}

export function entryUrl(id: number | string): string {
  return `${memoryPath}/entry/${encodeURIComponent(id)}`;
}

/** Returns the id of the memory that this one replaces. */
export function replacedId(entry: Record<string, unknown>): number | undefined {
  return read.number(read.object(read.object(entry, 'metadata'), 'references'), 'replaces');
}
