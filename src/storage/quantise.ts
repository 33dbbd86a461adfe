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
  // Shows what is no number.
  let sum = 0;
  for (let index = 0; index < vector.length; index++) {
    const size = Math.abs(vector[index] ?? 0);
    if (size > largest) largest = size;
    sum += size;
  }
  const codes = new Int8Array(vector.length);
  if (largest === 0 || !Number.isFinite(sum)) return { codes, scale: 0 };
  const factor = 127 / largest;
  // Above 0, cutting off rounds down: so 128 are added for a moment, in a third of the time of Math.round.
  for (let index = 0; index < vector.length; index++)
    codes[index] = (((vector[index] ?? 0) * factor + 128.5) | 0) - 128;
  return { codes, scale: largest / 127 };
}
