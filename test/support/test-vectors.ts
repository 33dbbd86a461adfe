/** Creates a random number generator that gives the same numbers in every run. */
export function randomNumbers(seed: number): () => number {
  let state = seed + 1;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

export function randomUnitVector(dimensions: number, random: () => number): Float32Array {
  return normalize(Float32Array.from({ length: dimensions }, () => gaussian(random)));
}

/** Returns a vector near `centre`, like those of texts on one subject. With `distance` 1 the noise is as long as the vector. */
export function nearVector(centre: Float32Array, distance: number, random: () => number): Float32Array {
  const spread = distance / Math.sqrt(centre.length);
  return normalize(centre.map((component) => component + gaussian(random) * spread));
}

function normalize(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  return vector.map((component) => component / length);
}

function gaussian(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}
