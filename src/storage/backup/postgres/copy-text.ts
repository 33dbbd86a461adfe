import type { ColumnKind } from '../../schema/table.ts';
import { damaged } from '../archive.ts';
import { asBuffer, linesIn, type StoredRow, type StoredValue } from '../rows.ts';

/** Formats a row as a line in COPY's text format. */
export function copyLine(row: StoredRow, kinds: readonly ColumnKind[]): string {
  return `${row.map((value, index) => copyField(value, kinds[index])).join('\t')}\n`;
}

function copyField(value: StoredValue, kind: ColumnKind | undefined): string {
  if (value === null) return '\\N';
  if (typeof value === 'number') return number(value);
  if (typeof value === 'string') return escaped(value);
  if (!(value instanceof Uint8Array)) {
    return escaped(`{${value.map((each) => `"${each.replace(/["\\]/g, '\\$&')}"`).join(',')}}`);
  }
  if (kind === 'vector') return `{${Array.from(new Float32Array(new Uint8Array(value).buffer), number).join(',')}}`;
  return `\\\\x${asBuffer(value).toString('hex')}`;
}

function number(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function escaped(text: string): string {
  return text.replace(/[\\\n\r\t]/g, (character) => escapes[character] ?? character);
}

/** Parses the rows of a table from COPY's lines. Chunks may have any size. */
export async function* copyRows(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  kinds: readonly ColumnKind[],
): AsyncGenerator<StoredRow> {
  for await (const line of linesIn(chunks)) {
    const fields = line.split('\t');
    if (fields.length !== kinds.length) throw damaged();
    yield fields.map((field, index) => storedValue(field, kinds[index]));
  }
}

function storedValue(field: string, kind: ColumnKind | undefined): StoredValue {
  if (field === '\\N') return null;
  if (kind === 'number') return Number(field);
  const text = field.includes('\\')
    ? field.replace(/\\(.)/gs, (_, letter: string) => unescapes[letter] ?? letter)
    : field;
  if (kind === 'bytes') return Buffer.from(text.slice(2), 'hex');
  if (kind === 'list') return membersOf(text.slice(1, -1));
  if (kind === 'vector') return bytesOf(text === '{}' ? [] : text.slice(1, -1).split(','));
  return text;
}

function bytesOf(numbers: readonly string[]): Uint8Array {
  return new Uint8Array(Float32Array.from(numbers, Number).buffer);
}

const unescapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f', v: '\v' };

/** Splits an array literal into its members. PostgreSQL quotes only members that need it. */
function membersOf(text: string): string[] {
  const members: string[] = [];
  const member = /"((?:[^"\\]|\\.)*)"|([^,"]+)/gs;
  for (const [, quoted, unquoted] of text.matchAll(member)) {
    members.push(quoted === undefined ? (unquoted ?? '') : quoted.replace(/\\(.)/gs, '$1'));
  }
  return members;
}
