import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Tokenizer } from '@huggingface/tokenizers';
import type { InferenceSession } from 'onnxruntime-node';
import { normalised } from './embedding-provider.ts';

/** A sentence-transformer on ONNX Runtime. Lives in the embedding worker; loading takes about 0.3 s and 150 MB. */
export interface EmbeddingModel {
  readonly dimensions: number;
  embed(text: string): Promise<Float32Array>;
}

/**
 * Text beyond this is not cut into word pieces: a model reads 512 of them, and even a text of three-letter words has
 * that many long before.
 */
const textUnitsMax = 8_000;

/**
 * Texts are run one by one. A dynamically quantised model measures its activations over the whole batch, so in a batch
 * the vector of a text would depend on its neighbours (cosine down to 0.98 for the same text), and on a CPU batches
 * are no faster: 220 short texts a second one by one, 180 in batches of 8; 10.8 and 7.2 long ones.
 */
export async function loadEmbeddingModel(folder: string, threads: number): Promise<EmbeddingModel> {
  // Named in a variable so that the bundler leaves this optional package, with its native parts, where it is.
  const runtimeName = 'onnxruntime-node';
  const { InferenceSession, Tensor }: typeof import('onnxruntime-node') = await import(runtimeName);
  const readJson = async (name: string) => JSON.parse(await readFile(join(folder, name), 'utf8'));
  const settings = await readJson('config.json');
  const tokenizer = new Tokenizer(await readJson('tokenizer.json'), await readJson('tokenizer_config.json'));
  const options: InferenceSession.SessionOptions = {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    // The arena keeps the memory of the longest text for ever; without it speed is the same.
    enableCpuMemArena: false,
  };
  const session = await InferenceSession.create(join(folder, 'model.onnx'), options);
  const dimensions: number = settings.hidden_size;
  const piecesMax: number = settings.max_position_embeddings;

  return {
    dimensions,
    async embed(text) {
      const pieces = wordPieces(tokenizer, text, piecesMax);
      const shape = [1, pieces.length];
      const filled = (value: bigint) => new Tensor('int64', new BigInt64Array(pieces.length).fill(value), shape);
      const output = await session.run({
        input_ids: new Tensor('int64', BigInt64Array.from(pieces, BigInt), shape),
        attention_mask: filled(1n),
        token_type_ids: filled(0n),
      });
      const states = output['last_hidden_state']?.data;
      if (!(states instanceof Float32Array)) throw new Error('the model has no last_hidden_state');
      return normalised(meanOverPieces(states, dimensions));
    },
  };
}

function wordPieces(tokenizer: Tokenizer, text: string, piecesMax: number): number[] {
  const { ids } = tokenizer.encode(text.slice(0, textUnitsMax));
  const end = ids.at(-1);
  return ids.length <= piecesMax || end === undefined ? ids : [...ids.slice(0, piecesMax - 1), end];
}

/** Nothing is padded, so the mean over the attention mask is the mean over all pieces. */
function meanOverPieces(states: Float32Array, dimensions: number): Float32Array {
  const mean = new Float32Array(dimensions);
  const pieces = states.length / dimensions;
  for (let index = 0; index < states.length; index++) {
    const column = index % dimensions;
    mean[column] = (mean[column] ?? 0) + (states[index] ?? 0) / pieces;
  }
  return mean;
}
