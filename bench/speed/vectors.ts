import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRandom, documentNumberOf, type Random } from './rows.ts';

/** The same number as in the bundled model. */
export const dimensions = 384;

const clusters = 1000;

/** Length of the noise relative to the cluster's centre. Texts on one subject are about that far apart. */
const spread = 0.6;

/**
 * Generates the unit vector of a row. The rows of a document are in the same cluster, because a document has one subject. Vectors
 * are unrelated to the texts; search time is the same.
 */
export function vectorOf(number: number): Float32Array {
  return generate(createRandom(0x7ec70 + number), createRandom(firstSubject + documentNumberOf(number)));
}

/** Seed of the first document's subject. Far above the seeds of the rows. */
const firstSubject = 80_000_000;

export function queryVectorOf(number: number): Float32Array {
  return generate(createRandom(0x9e4 + 7 * number));
}

/**
 * Models the generated vectors on those that `bench:quality` cached in the folder: each is one of them, plus part of the
 * difference of two others.
 */
export function imitateModel(folder: string): void {
  const bytes = keyBytes + 4 * dimensions;
  for (const name of readdirSync(folder).sort()) {
    const file = readFileSync(join(folder, name));
    for (let at = keyBytes; at + 4 * dimensions <= file.length; at += bytes) {
      embeddings.push(new Float32Array(file.buffer.slice(file.byteOffset + at, file.byteOffset + at + 4 * dimensions)));
    }
  }
}

/** Length of the key before each vector in such a file; the key identifies the text. */
const keyBytes = 20;

const embeddings: Float32Array[] = [];

/** Generates a vector. `subject` chooses the cluster or the embedding that it is near to. */
function generate(random: Random, subject = random): Float32Array {
  return embeddings.length === 0 ? drawNearCentre(random, subject) : imitateEmbedding(random, subject);
}

function imitateEmbedding(random: Random, subject: Random): Float32Array {
  const pickEmbedding = (pick: Random) => embeddings[Math.floor(pick() * embeddings.length)] as Float32Array;
  const [from, to] = [pickEmbedding(random), pickEmbedding(random)];
  return normalize(
    pickEmbedding(subject).map(
      (component, at) => component + spread * ((to[at] ?? 0) - (from[at] ?? 0)) * differenceScale,
    ),
  );
}

/** Scales the difference so that the noise is as long as that of the clustered vectors. */
const differenceScale = 0.67;

function drawNearCentre(random: Random, subject: Random): Float32Array {
  const start = Math.floor(subject() * clusters) * dimensions;
  const vector = new Float32Array(dimensions);
  const width = (spread * Math.sqrt(12)) / Math.sqrt(dimensions);
  for (let at = 0; at < dimensions; at += 1) vector[at] = (centres[start + at] ?? 0) + (random() - 0.5) * width;
  return normalize(vector);
}

const centres = makeCentres();

function makeCentres(): Float32Array {
  const random = createRandom(0xce47e5);
  const centres = new Float32Array(clusters * dimensions).map(() => random() - 0.5);
  for (let start = 0; start < centres.length; start += dimensions) {
    centres.set(normalize(centres.slice(start, start + dimensions)), start);
  }
  return centres;
}

function normalize(vector: Float32Array): Float32Array {
  let squares = 0;
  for (const component of vector) squares += component * component;
  const length = Math.sqrt(squares);
  return vector.map((component) => component / length);
}
