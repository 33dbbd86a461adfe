import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Tokenizer } from '@huggingface/tokenizers';
import { normalised } from './embedding-provider.ts';
import { loadTokenizer, tokenisedUnitsMax } from './load-tokenizer.ts';
import { loadOnnxRuntime, type OnnxRuntimeConfig } from './onnx-runtime.ts';

/**
 * Loads a sentence-transformer on ONNX Runtime, for the embedding worker; takes about 0.3 s and 80 MB. Texts run one by one:
 * in a batch of a quantised model, a text's vector depends on the other texts, and batches are not faster.
 */
export async function loadEmbeddingModel(config: OnnxRuntimeConfig) {
  const settings = JSON.parse(await readFile(join(config.modelFolder, 'config.json'), 'utf8'));
  const tokenizer = await loadTokenizer(config.modelFolder);
  const runtime = await loadOnnxRuntime(config);
  const dimensions: number = settings.hidden_size;
  const tokensMax: number = settings.max_position_embeddings;
  return {
    device: runtime.device,
    async embed(text: string): Promise<Float32Array> {
      const states = await runtime.run({ tokens: tokenIds(tokenizer, text, tokensMax) });
      return normalised(meanOverTokens(states, dimensions));
    },
  };
}

function tokenIds(tokenizer: Tokenizer, text: string, tokensMax: number): number[] {
  const { ids } = tokenizer.encode(text.slice(0, tokenisedUnitsMax));
  const end = ids.at(-1);
  return ids.length <= tokensMax || end === undefined ? ids : [...ids.slice(0, tokensMax - 1), end];
}

/** Averages the vectors of all tokens. There is no padding to skip. */
function meanOverTokens(states: Float32Array, dimensions: number): Float32Array {
  const mean = new Float32Array(dimensions);
  const tokens = states.length / dimensions;
  for (let index = 0; index < states.length; index++) {
    const column = index % dimensions;
    mean[column] = (mean[column] ?? 0) + (states[index] ?? 0) / tokens;
  }
  return mean;
}
