import assert from 'node:assert/strict';

/**
 * Lists of numbers in the form in which PostgreSQL sends and takes arrays in bytes (array_send): as text, a vector is three
 * times as long and costs a parse of every number. All numbers are big-endian. Buffers, because `pg` sends those, and
 * nothing else, as bytes.
 */
const headerBytes = 20;
const types = { bigint: 20, real: 700 } as const;

export function realArray(numbers: Float32Array): Buffer {
  const { bytes, view } = emptyArray(types.real, numbers.length, 4);
  numbers.forEach((number, place) => {
    view.setFloat32(headerBytes + place * 8 + 4, number);
  });
  return bytes;
}

export function bigintArray(numbers: ArrayLike<number>): Buffer {
  const { bytes, view } = emptyArray(types.bigint, numbers.length, 8);
  for (let place = 0; place < numbers.length; place++) {
    const number = numbers[place] ?? 0;
    view.setInt32(headerBytes + place * 12 + 4, Math.floor(number / 2 ** 32));
    view.setUint32(headerBytes + place * 12 + 8, number % 2 ** 32);
  }
  return bytes;
}

/** What `array_send` gives for a `real[]`. */
export function realsOf(bytes: unknown): Float32Array {
  assert(bytes instanceof Uint8Array, 'array_send gives bytes');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = bytes.byteLength < headerBytes ? 0 : view.getInt32(12);
  return Float32Array.from({ length: count }, (_, place) => view.getFloat32(headerBytes + place * 8 + 4));
}

/** What `array_send` gives for a `bigint[]`. */
export function bigintsOf(bytes: unknown): Float64Array {
  assert(bytes instanceof Uint8Array, 'array_send gives bytes');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = bytes.byteLength < headerBytes ? 0 : view.getInt32(12);
  const numbers = new Float64Array(count);
  for (let place = 0; place < count; place++) {
    const at = headerBytes + place * 12 + 4;
    numbers[place] = view.getInt32(at) * 2 ** 32 + view.getUint32(at + 4);
  }
  return numbers;
}

function emptyArray(type: number, length: number, memberBytes: number): { bytes: Buffer; view: DataView } {
  const bytes = Buffer.alloc(headerBytes + length * (4 + memberBytes));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // Dimensions, no nulls, the type of the members; then the length and the lower bound of the one dimension.
  [1, 0, type, length, 1].forEach((value, place) => {
    view.setInt32(place * 4, value);
  });
  for (let place = 0; place < length; place++) view.setInt32(headerBytes + place * (4 + memberBytes), memberBytes);
  return { bytes, view };
}
