/** A vector as signed bytes: component ≈ code × scale. */
export interface QuantisedVector {
  codes: Int8Array;
  scale: number;
}

/** Quantises a vector with its own scale. With a common scale, very large components would round others to 0. */
export function quantise(vector: Float32Array): QuantisedVector {
  let largest = 0;
  // NaN or infinite if any component is.
  let sum = 0;
  for (let index = 0; index < vector.length; index++) {
    const size = Math.abs(vector[index] ?? 0);
    if (size > largest) largest = size;
    sum += size;
  }
  const codes = new Int8Array(vector.length);
  if (largest === 0 || !Number.isFinite(sum)) return { codes, scale: 0 };
  const factor = 127 / largest;
  // Rounds to the nearest integer. `| 0` truncates towards 0, so 128 makes the value positive first. Math.round is much slower.
  for (let index = 0; index < vector.length; index++)
    codes[index] = (((vector[index] ?? 0) * factor + 128.5) | 0) - 128;
  return { codes, scale: largest / 127 };
}

export function dotProduct(left: Float32Array, right: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < left.length; index++) sum += (left[index] ?? 0) * (right[index] ?? 0);
  return sum;
}
