import { createHash } from 'node:crypto';
import { StringDecoder } from 'node:string_decoder';
import { type ColumnKind, columnKinds, type Table } from '../schema/table.ts';
import { type ArchiveMember, damaged } from './archive.ts';

/** A column value in a form that both databases share. A vector is represented by its bytes. */
export type StoredValue = string | number | null | readonly string[] | Uint8Array;

/** The values of a row, in the order of the columns. */
export type StoredRow = readonly StoredValue[];

/** Formats a row as a line of JSON. Bytes are in base64. */
export function lineOf(row: StoredRow): string {
  return JSON.stringify(row.map((value) => (value instanceof Uint8Array ? asBuffer(value).toString('base64') : value)));
}

/** Parses a line. Throws if it is not a row of this table. */
export function rowOf(line: string, table: Table): StoredRow {
  const kinds = columnKinds(table);
  const values = parse(line);
  if (!Array.isArray(values) || values.length !== kinds.length) throw damaged();
  return kinds.map((kind, index) => storedValue(values[index], kind));
}

/** Splits chunks into lines. Throws if the last line has no newline. */
export async function* linesIn(chunks: ArchiveMember['content']): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  let unfinished: string[] = [];
  for await (const chunk of chunks) {
    const [first = '', ...others] = decoder.write(asBuffer(chunk)).split('\n');
    unfinished.push(first);
    for (const next of others) {
      yield unfinished.join('');
      unfinished = [next];
    }
  }
  if (unfinished.join('') !== '') throw damaged();
}

/** A digest of a table's content. It does not depend on the order of rows. */
export interface RowDigest {
  add(line: string): void;
  readonly rows: number;
  /** The sum of the SHA-256 hashes of all lines, as 64 hexadecimal digits. */
  sum(): string;
}

export function createRowDigest(): RowDigest {
  let rows = 0;
  let sum = 0n;
  return {
    add(line) {
      rows += 1;
      sum = BigInt.asUintN(256, sum + BigInt(`0x${createHash('sha256').update(line).digest('hex')}`));
    },
    get rows() {
      return rows;
    },
    sum: () => sum.toString(16).padStart(64, '0'),
  };
}

export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw damaged(error);
  }
}

function storedValue(value: unknown, kind: ColumnKind): StoredValue {
  if (value === null) return null;
  if (kind === 'number' && typeof value === 'number') return value;
  if (kind === 'list' && Array.isArray(value) && value.every((each) => typeof each === 'string')) return value;
  if (typeof value !== 'string' || kind === 'number' || kind === 'list') throw damaged();
  return kind === 'text' ? value : Buffer.from(value, 'base64');
}
