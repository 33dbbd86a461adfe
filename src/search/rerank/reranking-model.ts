import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Tokenizer } from '@huggingface/tokenizers';
import { loadTokenizer, tokenisedUnitsMax } from '../models/load-tokenizer.ts';
import { loadOnnxRuntime, type OnnxRuntimeConfig, type TokenisedText } from '../models/onnx-runtime.ts';

export interface RerankingModelConfig extends OnnxRuntimeConfig {
  readonly queryTokensMax: number;
  readonly passageTokensMax: number;
  readonly tokenizerFolder?: string | undefined;
}

/**
 * Loads a cross-encoder on ONNX Runtime. Pairs run one by one: in a batch of a quantised model, a pair's logit depends on the
 * other pairs, and batches are not faster.
 */
export async function loadRerankingModel(config: RerankingModelConfig) {
  const settings = JSON.parse(await readFile(join(config.modelFolder, 'config.json'), 'utf8'));
  const tokenizer = await loadTokenizer(config.tokenizerFolder ?? config.modelFolder);
  const template = pairTemplate(tokenizer);
  const runtime = await loadOnnxRuntime(config);
  const piecesMax: number = settings.max_position_embeddings ?? 512;
  const textPiecesMax = piecesMax - template.first.length - template.separator.length - template.last.length;
  let last: { query: string; pieces: readonly number[] } | undefined;
  return {
    device: runtime.device,
    async score(query: string, passage: string): Promise<number> {
      // The passages of one search arrive consecutively, so the query is tokenised once.
      if (last?.query !== query) {
        last = {
          query,
          pieces: plainPieces(tokenizer, query).slice(0, Math.min(config.queryTokensMax, textPiecesMax)),
        };
      }
      const passageMax = Math.min(config.passageTokensMax, textPiecesMax - last.pieces.length);
      const pieces = plainPieces(tokenizer, passage).slice(0, Math.max(0, passageMax));
      return logitOf(await runtime.run(joined(template, last.pieces, pieces)));
    },
  };
}

/** The special pieces around a query and its passage, which differ by model. */
interface PairTemplate {
  readonly first: readonly number[];
  readonly separator: readonly number[];
  readonly last: readonly number[];
  /** Token types of the pieces between the texts, and of the second text and the pieces after it. */
  readonly types: { separator: number; second: number };
}

/** Finds the special pieces by tokenising the pair "a" and "b". */
function pairTemplate(tokenizer: Tokenizer): PairTemplate {
  const encoded = tokenizer.encode('a', { text_pair: 'b', return_token_type_ids: true });
  const [ids, types]: number[][] = [encoded.ids, encoded.token_type_ids];
  if (ids === undefined || types === undefined) throw new Error('the tokenizer does not accept pairs of texts');
  const [a, b] = [plainPieces(tokenizer, 'a'), plainPieces(tokenizer, 'b')];
  const at = ids.findIndex((_, start) => a.every((piece, index) => ids[start + index] === piece));
  const second = ids.findIndex((_, start) => start > at && b.every((piece, index) => ids[start + index] === piece));
  if (at < 0 || second < 0) throw new Error('the tokenizer does not accept pairs of texts');
  return {
    first: ids.slice(0, at),
    separator: ids.slice(at + a.length, second),
    last: ids.slice(second + b.length),
    types: { separator: types[at + a.length] ?? 0, second: types[second] ?? 1 },
  };
}

function joined(
  { first, separator, last, types }: PairTemplate,
  query: readonly number[],
  passage: readonly number[],
): TokenisedText {
  const head = [...first, ...query];
  return {
    pieces: [...head, ...separator, ...passage, ...last],
    types: [
      ...head.map(() => 0),
      ...separator.map(() => types.separator),
      ...passage.map(() => types.second),
      ...last.map(() => types.second),
    ],
  };
}

function plainPieces(tokenizer: Tokenizer, text: string): number[] {
  return tokenizer.encode(text.slice(0, tokenisedUnitsMax), { add_special_tokens: false }).ids;
}

/** Reads the logit from the output: one number, or one each for "irrelevant" and "relevant". */
function logitOf(output: Float32Array): number {
  const [first = Number.NaN, second] = output;
  const logit = second === undefined ? first : second - first;
  if (output.length > 2 || !Number.isFinite(logit)) throw new Error('the model is not a cross-encoder');
  return logit;
}
