import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { basename } from 'node:path';

/** Smaller ones stay in the graph: each that is left in the file is mapped on its own. */
const mappedBytesMin = 4096;

/** Numbers of ONNX's formats: fields of its messages, and types of a tensor's values. */
const graphField = 7;
const initializerField = 5;
const dataTypeField = 2;
const rawDataField = 9;
const externalDataField = 13;
const dataLocationField = 14;
/** Bytes of a value, of the types that are mapped. */
const valueBytes = new Map([
  [1, 4],
  [2, 1],
  [3, 1],
]);

/**
 * An ONNX model without its large weights, which it looks for where they lie in its file. The runtime maps them from there:
 * threads and processes that run the model share one copy, and words that nobody uses stay on the disk. Given the whole
 * file, each thread would have copies of its own, and twice as much while it loads.
 *
 * Those of four bytes are mapped where they lie at places that are multiples of four; training/export.py puts ours there.
 */
export function withoutWeights(file: string): Buffer {
  const bytes = openBytes(file);
  try {
    return rewritten(bytes, [0, bytes.size], graphField, (graph) =>
      rewritten(bytes, graph, initializerField, (tensor) => withoutValues(bytes, tensor, basename(file))),
    );
  } finally {
    bytes.close();
  }
}

/** From the first byte to the one behind the last. */
type Range = readonly [start: number, end: number];

/** A message whose fields of one kind are messages that are rewritten. */
function rewritten(bytes: FileBytes, message: Range, field: number, rewrite: (message: Range) => Buffer): Buffer {
  const parts: Buffer[] = [];
  for (const { number, whole, value } of fieldsOf(bytes, message)) {
    parts.push(number === field ? lengthDelimited(field, rewrite(value)) : bytes.slice(whole));
  }
  return Buffer.concat(parts);
}

function withoutValues(bytes: FileBytes, tensor: Range, location: string): Buffer {
  const parts: Buffer[] = [];
  let values: Range | undefined;
  let type: number | undefined;
  for (const { number, whole, value } of fieldsOf(bytes, tensor)) {
    if (number === rawDataField) values = value;
    else parts.push(bytes.slice(whole));
    if (number === dataTypeField) type = readVarint(bytes, value[0]).value;
  }
  const [start, end] = values ?? [0, 0];
  const isAligned = start % (valueBytes.get(type ?? 0) ?? Number.POSITIVE_INFINITY) === 0;
  if (end - start < mappedBytesMin || !isAligned) return bytes.slice(tensor);
  for (const [key, value] of Object.entries({ location, offset: start, length: end - start })) {
    const entry = [key, String(value)].map((text, index) => lengthDelimited(index + 1, Buffer.from(text)));
    parts.push(lengthDelimited(externalDataField, Buffer.concat(entry)));
  }
  const external = 1;
  return Buffer.concat([...parts, varint(dataLocationField * 8), varint(external)]);
}

interface Field {
  readonly number: number;
  /** With its number. */
  readonly whole: Range;
  readonly value: Range;
}

/** The fields of a message of Protocol Buffers. */
function* fieldsOf(bytes: FileBytes, [start, end]: Range): Generator<Field> {
  for (let at = start; at < end; ) {
    const tag = readVarint(bytes, at);
    const value = valueAt(bytes, tag.next, tag.value % 8);
    if (value[1] > end) throw new Error('a field is longer than its message');
    yield { number: Math.floor(tag.value / 8), whole: [at, value[1]], value };
    at = value[1];
  }
}

function valueAt(bytes: FileBytes, at: number, wireType: number): Range {
  switch (wireType) {
    case 0:
      return [at, readVarint(bytes, at).next];
    case 1:
      return [at, at + 8];
    case 2: {
      const { value: length, next } = readVarint(bytes, at);
      return [next, next + length];
    }
    case 5:
      return [at, at + 4];
    default:
      throw new Error('this is not a message of Protocol Buffers');
  }
}

function readVarint(bytes: FileBytes, at: number): { value: number; next: number } {
  let value = 0;
  for (let index = 0; index < 10; index++) {
    const byte = bytes.at(at + index);
    value += (byte % 128) * 128 ** index;
    if (byte < 128) return { value, next: at + index + 1 };
  }
  throw new Error('a number is too long');
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  for (; left >= 128; left = Math.floor(left / 128)) bytes.push((left % 128) + 128);
  return Buffer.from([...bytes, left]);
}

function lengthDelimited(field: number, value: Buffer): Buffer {
  return Buffer.concat([varint(field * 8 + 2), varint(value.length), value]);
}

interface FileBytes {
  readonly size: number;
  at(place: number): number;
  slice(range: Range): Buffer;
  close(): void;
}

const windowBytes = 65_536;

function openBytes(file: string): FileBytes {
  const descriptor = openSync(file, 'r');
  const { size } = fstatSync(descriptor);
  const window = Buffer.alloc(windowBytes);
  let held: Range = [0, 0];
  return {
    size,
    at(place) {
      if (place < held[0] || place >= held[1])
        held = [place, place + readSync(descriptor, window, { position: place })];
      const byte = place < held[1] ? window[place - held[0]] : undefined;
      if (byte === undefined) throw new Error('the file ends too soon');
      return byte;
    },
    slice([start, end]) {
      if (end > size) throw new Error('the file ends too soon');
      const part = Buffer.alloc(end - start);
      readSync(descriptor, part, { position: start });
      return part;
    },
    close: () => closeSync(descriptor),
  };
}
