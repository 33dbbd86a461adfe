import assert from 'node:assert/strict';

/**
 * A list of numbers in the form in which PostgreSQL sends and takes `real[]` in bytes (array_send): as text, a vector is
 * three times as long and costs a parse of every number. All numbers are big-endian.
 */
const headerBytes = 20;
const float4 = 700;

/** A Buffer, because `pg` sends those, and nothing else, as bytes. */
export function realArray(vector: Float32Array): Buffer {
  const bytes = Buffer.alloc(headerBytes + vector.length * 8);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // Dimensions, no nulls, the type of the members; then the length and the lower bound of the one dimension.
  [1, 0, float4, vector.length, 1].forEach((value, place) => {
    view.setInt32(place * 4, value);
  });
  vector.forEach((number, place) => {
    view.setInt32(headerBytes + place * 8, 4);
    view.setFloat32(headerBytes + place * 8 + 4, number);
  });
  return bytes;
}

/** What `array_send` gives. */
export function realsOf(bytes: unknown): Float32Array {
  assert(bytes instanceof Uint8Array, 'array_send gives bytes');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = bytes.byteLength < headerBytes ? 0 : view.getInt32(12);
  return Float32Array.from({ length: count }, (_, place) => view.getFloat32(headerBytes + place * 8 + 4));
}
