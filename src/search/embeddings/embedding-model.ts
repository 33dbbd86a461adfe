import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Tokenizer } from '@huggingface/tokenizers';
import { normalised } from './embedding-provider.ts';
import { loadOnnxRuntime, type OnnxDevice, type OnnxRuntimeConfig } from './onnx-runtime.ts';

/** A sentence-transformer on ONNX Runtime. Lives in the embedding worker; loading takes about 0.3 s and 150 MB. */
export interface EmbeddingModel {
  readonly dimensions: number;
  readonly device: OnnxDevice;
  embed(text: string): Promise<Float32Array>;
}

/**
 * Text beyond this is not tokenised: a model reads 512 tokens, and even a text of three-letter words has that many long
 * before.
 */
const textUnitsMax = 8_000;

/**
 * Texts are run one by one. A dynamically quantised model measures its activations over the whole batch, so in a batch
 * the vector of a text would depend on its neighbours (cosine down to 0.98 for the same text), and on a CPU batches
 * are no faster: 220 short texts a second one by one, 180 in batches of 8; 10.8 and 7.2 long ones.
 */
export async function loadEmbeddingModel(config: OnnxRuntimeConfig): Promise<EmbeddingModel> {
  const readJson = async (name: string) => JSON.parse(await readFile(join(config.modelFolder, name), 'utf8'));
  const settings = await readJson('config.json');
  const tokenizer = new Tokenizer(await readJson('tokenizer.json'), await readJson('tokenizer_config.json'));
  const runtime = await loadOnnxRuntime(config);
  const dimensions: number = settings.hidden_size;
  const piecesMax: number = settings.max_position_embeddings;
  return {
    dimensions,
    device: runtime.device,
    async embed(text) {
      const states = await runtime.run(wordPieces(tokenizer, text, piecesMax));
      return normalised(meanOverPieces(states, dimensions));
    },
  };
}

function wordPieces(tokenizer: Tokenizer, text: string, piecesMax: number): number[] {
  const { ids } = tokenizer.encode(text.slice(0, textUnitsMax));
  const end = ids.at(-1);
  return ids.length <= piecesMax || end === undefined ? ids : [...ids.slice(0, piecesMax - 1), end];
}

/** Nothing is padded, so the mean over the attention mask is the mean over all tokens. */
function meanOverPieces(states: Float32Array, dimensions: number): Float32Array {
  const mean = new Float32Array(dimensions);
  const pieces = states.length / dimensions;
  for (let index = 0; index < states.length; index++) {
    const column = index % dimensions;
    mean[column] = (mean[column] ?? 0) + (states[index] ?? 0) / pieces;
  }
  return mean;
}
