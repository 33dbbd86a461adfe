import { StringDecoder } from 'node:string_decoder';
import { damaged } from '../backup/archive.ts';
import type { ColumnKind, MovedValue, MoveTable } from './move-table.ts';

/** Rows as lines of PostgreSQL's COPY, in its text format. */
export function copyLine(values: readonly MovedValue[]): string {
  return `${values.map(copyField).join('\t')}\n`;
}

function copyField(value: MovedValue): string {
  if (value === null) return '\\N';
  if (typeof value === 'number') return number(value);
  if (typeof value === 'string') return escaped(value);
  if (value instanceof Float32Array) return `{${Array.from(value, number).join(',')}}`;
  if (value instanceof Uint8Array)
    return `\\\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')}`;
  return escaped(`{${value.map((each) => `"${each.replace(/["\\]/g, '\\$&')}"`).join(',')}}`);
}

function number(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function escaped(text: string): string {
  return text.replace(/[\\\n\r\t]/g, (sign) => escapes[sign] ?? sign);
}

/** The rows of a table from its lines, however they are cut. */
export async function* copyRows(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { columns }: MoveTable,
): AsyncGenerator<MovedValue[]> {
  const kinds = columns.map(({ kind }) => kind);
  const decoder = new StringDecoder('utf8');
  let rest: string[] = [];
  for await (const chunk of chunks) {
    const [first = '', ...others] = decoder.write(Buffer.from(chunk)).split('\n');
    rest.push(first);
    for (const next of others) {
      yield rowOf(rest.join(''), kinds);
      rest = [next];
    }
  }
  // Every line has an end.
  if (rest.join('') !== '') throw damaged();
}

function rowOf(line: string, kinds: readonly ColumnKind[]): MovedValue[] {
  const fields = line.split('\t');
  if (fields.length !== kinds.length) throw damaged();
  return fields.map((field, index) => movedValue(field, kinds[index] ?? 'text'));
}

function movedValue(field: string, kind: ColumnKind): MovedValue {
  if (field === '\\N') return null;
  if (kind === 'number') return Number(field);
  const text = field.includes('\\') ? field.replace(/\\(.)/gs, (_, sign: string) => signs[sign] ?? sign) : field;
  if (kind === 'text') return text;
  if (kind === 'bytes') return Buffer.from(text.slice(2), 'hex');
  if (!text.startsWith('{') || !text.endsWith('}')) throw damaged();
  if (kind === 'texts') return membersOf(text.slice(1, -1));
  return Float32Array.from(text === '{}' ? [] : text.slice(1, -1).split(','), Number);
}

const signs: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f', v: '\v' };

/** Members of an array are quoted where they need it. */
function membersOf(text: string): string[] {
  const members: string[] = [];
  const member = /"((?:[^"\\]|\\.)*)"|([^,"]+)/gs;
  for (const [, quoted, plain] of text.matchAll(member)) {
    members.push(quoted === undefined ? (plain ?? '') : quoted.replace(/\\(.)/gs, '$1'));
  }
  return members;
}
