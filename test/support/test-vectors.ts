/** Creates a random number generator that gives the same numbers in every run. */
export function randomNumbers(seed: number): () => number {
  let state = seed + 1;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 0) / 2 ** 32;
  };
}

export function randomUnitVector(dimensions: number, random: () => number): Float32Array {
  return normalize(new Float32Array(dimensions).map(() => gaussian(random)));
}

/** Returns a vector near `centre`, like those of texts on one subject. With `distance` 1 the noise is as long as the vector. */
export function nearVector(centre: Float32Array, distance: number, random: () => number): Float32Array {
  const spread = distance / Math.sqrt(centre.length);
  return normalize(centre.map((component) => component + gaussian(random) * spread));
}

function normalize(vector: Float32Array): Float32Array {
  let squares = 0;
  for (const component of vector) squares += component * component;
  const length = Math.sqrt(squares);
  return vector.map((component) => component / length);
}

/** Nearly normally distributed. Logarithm and cosine would take most of the time of a test with many vectors. */
function gaussian(random: () => number): number {
  return (random() + random() + random() + random() - 2) * Math.sqrt(3);
}
