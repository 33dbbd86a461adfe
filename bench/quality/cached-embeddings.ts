import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EmbeddingProvider } from '../../src/search/models/embedding-provider.ts';

const hashBytes = 20;
const batchSize = 64;

/** Wraps a provider and keeps its vectors on disk between runs, because embedding the sets takes half an hour on two cores. */
export function createCachedEmbeddings(provider: EmbeddingProvider, folder: string, set: string): EmbeddingProvider {
  const dimensions = provider.dimensions ?? 0;
  const file = join(folder, `${set}.${provider.name.replace(/\W+/g, '-')}.vectors`);
  const cache = new Map<string, Float32Array>();
  mkdirSync(folder, { recursive: true });
  if (existsSync(file)) readRecords(cache, readFileSync(file), dimensions);

  async function embedMissing(texts: readonly string[]): Promise<void> {
    const missing = [...new Set(texts)].filter((text) => !cache.has(hashOf(text)));
    for (let start = 0; start < missing.length; start += batchSize) {
      const batch = missing.slice(start, start + batchSize);
      const vectors = await provider.embed(batch);
      const records = batch.map((text, index) => {
        const vector = vectors[index] ?? new Float32Array(dimensions);
        cache.set(hashOf(text), vector);
        return Buffer.concat([
          Buffer.from(hashOf(text), 'hex'),
          Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength),
        ]);
      });
      appendFileSync(file, Buffer.concat(records));
    }
  }

  return {
    name: provider.name,
    dimensions,
    async embed(texts) {
      await embedMissing(texts);
      return texts.map((text) => cache.get(hashOf(text)) ?? new Float32Array(dimensions));
    },
    close: () => provider.close(),
  };
}

function hashOf(text: string): string {
  return createHash('sha1').update(text).digest('hex');
}

/** Reads all records into `cache`. If an interrupted run left a truncated record at the end, it is ignored. */
function readRecords(cache: Map<string, Float32Array>, bytes: Buffer, dimensions: number): void {
  const recordBytes = hashBytes + 4 * dimensions;
  for (let at = 0; at + recordBytes <= bytes.length; at += recordBytes) {
    const vector = new Float32Array(dimensions);
    new Uint8Array(vector.buffer).set(bytes.subarray(at + hashBytes, at + recordBytes));
    cache.set(bytes.toString('hex', at, at + hashBytes), vector);
  }
}
