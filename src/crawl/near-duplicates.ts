/** Hashes per sketch. More hashes give a better estimate. */
const sketchSize = 100;
/** Words per shingle. Texts are compared by shingles: runs of consecutive words. */
const shingleWords = 5;
/** Pages that share at least this fraction of their shingles are duplicates. */
const duplicateSimilarity = 0.95;
/** Only this many characters of a text are compared. */
const sketchCharsMax = 200_000;

/** The lowest hashes of a text's shingles, in ascending order (MinHash). */
export type Sketch = Uint32Array;

export function sketchOf(text: string): Sketch {
  const words =
    text
      .slice(0, sketchCharsMax)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  const hashes = words.map(hashOf);
  const shingles = new Set<number>();
  for (let first = 0; first === 0 || first + shingleWords <= hashes.length; first += 1) {
    let hash = 0;
    for (const word of hashes.slice(first, first + shingleWords)) hash = spread(Math.imul(hash, 31) + word);
    shingles.add(hash);
  }
  return Uint32Array.from(shingles).sort().slice(0, sketchSize);
}

/** True if two texts are nearly the same, estimated from the hashes that their sketches share. */
export function isNearDuplicate(first: Sketch, second: Sketch): boolean {
  let [common, seen, left, right] = [0, 0, 0, 0];
  while (seen < sketchSize && (left < first.length || right < second.length)) {
    const [one = Number.POSITIVE_INFINITY, other = Number.POSITIVE_INFINITY] = [first[left], second[right]];
    if (one === other) common += 1;
    if (one <= other) left += 1;
    if (other <= one) right += 1;
    seen += 1;
  }
  return seen > 0 && common / seen >= duplicateSimilarity;
}

export function encodeSketch(sketch: Sketch): string {
  return Buffer.from(sketch.buffer, sketch.byteOffset, sketch.byteLength).toString('base64');
}

export function decodeSketch(text: string): Sketch {
  const bytes = Buffer.from(text, 'base64');
  return new Uint32Array(new Uint8Array(bytes).buffer, 0, Math.floor(bytes.length / 4));
}

/** Hashes a word with FNV-1a. */
function hashOf(word: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < word.length; index += 1) hash = Math.imul(hash ^ word.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}

/** Spreads values that are close together, with the finalizer of MurmurHash3. */
function spread(value: number): number {
  let hash = value >>> 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

export interface PageText {
  readonly hash: string;
  readonly sketch: Sketch;
}

/** Returns the URL of another page with nearly the same text, if there is one. */
export function findDuplicate(texts: ReadonlyMap<string, PageText>, url: string, text: PageText): string | undefined {
  for (const [other, { hash, sketch }] of texts) {
    if (other !== url && (hash === text.hash || isNearDuplicate(sketch, text.sketch))) return other;
  }
  return undefined;
}
