/** A vector as signed bytes: component ≈ code × scale. */
export interface QuantisedVector {
  codes: Int8Array;
  scale: number;
}

/**
 * Each vector gets a scale of its own, because some models put half of a vector's length into one component: with one
 * scale for all vectors the other components would share a few codes. -128 is never used (see scan-kernel.wat).
 */
export function quantise(vector: Float32Array): QuantisedVector {
  let largest = 0;
  for (let index = 0; index < vector.length; index++) largest = Math.max(largest, Math.abs(vector[index] ?? 0));
  const codes = new Int8Array(vector.length);
  if (largest === 0 || !Number.isFinite(largest)) return { codes, scale: 0 };
  const factor = 127 / largest;
  for (let index = 0; index < vector.length; index++) codes[index] = Math.round((vector[index] ?? 0) * factor);
  return { codes, scale: largest / 127 };
}
