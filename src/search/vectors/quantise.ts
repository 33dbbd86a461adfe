export { type QuantisedVector, quantise } from '../../storage/quantise.ts';

export function dotProduct(left: Float32Array, right: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < left.length; index++) sum += (left[index] ?? 0) * (right[index] ?? 0);
  return sum;
}
