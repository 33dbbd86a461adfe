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
  const tokensMax: number = settings.max_position_embeddings ?? 512;
  const textTokensMax = tokensMax - template.first.length - template.separator.length - template.last.length;
  let last: { query: string; tokens: readonly number[] } | undefined;
  return {
    device: runtime.device,
    async score(query: string, passage: string): Promise<number> {
      // The passages of one search arrive consecutively, so the query is tokenised once.
      if (last?.query !== query) {
        last = {
          query,
          tokens: plainTokens(tokenizer, query).slice(0, Math.min(config.queryTokensMax, textTokensMax)),
        };
      }
      const passageMax = Math.min(config.passageTokensMax, textTokensMax - last.tokens.length);
      const tokens = plainTokens(tokenizer, passage).slice(0, Math.max(0, passageMax));
      return logitOf(await runtime.run(joinPair(template, last.tokens, tokens)));
    },
  };
}

/** The special tokens around a query and its passage, which differ by model. */
interface PairTemplate {
  readonly first: readonly number[];
  readonly separator: readonly number[];
  readonly last: readonly number[];
  /** Token types of the separator, and of the second text with the tokens after it. */
  readonly types: { separator: number; second: number };
}

/** Finds the special tokens by tokenising the pair "a" and "b". */
function pairTemplate(tokenizer: Tokenizer): PairTemplate {
  const encoded = tokenizer.encode('a', { text_pair: 'b', return_token_type_ids: true });
  const [ids, types]: number[][] = [encoded.ids, encoded.token_type_ids];
  if (ids === undefined || types === undefined) throw new Error('the tokenizer does not accept pairs of texts');
  const [a, b] = [plainTokens(tokenizer, 'a'), plainTokens(tokenizer, 'b')];
  const at = ids.findIndex((_, start) => a.every((token, index) => ids[start + index] === token));
  const second = ids.findIndex((_, start) => start > at && b.every((token, index) => ids[start + index] === token));
  if (at < 0 || second < 0) throw new Error('the tokenizer does not accept pairs of texts');
  return {
    first: ids.slice(0, at),
    separator: ids.slice(at + a.length, second),
    last: ids.slice(second + b.length),
    types: { separator: types[at + a.length] ?? 0, second: types[second] ?? 1 },
  };
}

function joinPair(
  { first, separator, last, types }: PairTemplate,
  query: readonly number[],
  passage: readonly number[],
): TokenisedText {
  const head = [...first, ...query];
  return {
    tokens: [...head, ...separator, ...passage, ...last],
    types: [
      ...head.map(() => 0),
      ...separator.map(() => types.separator),
      ...passage.map(() => types.second),
      ...last.map(() => types.second),
    ],
  };
}

function plainTokens(tokenizer: Tokenizer, text: string): number[] {
  return tokenizer.encode(text.slice(0, tokenisedUnitsMax), { add_special_tokens: false }).ids;
}

/** Reads the logit from the output: one number, or one each for "irrelevant" and "relevant". */
function logitOf(output: Float32Array): number {
  const [first = Number.NaN, second] = output;
  const logit = second === undefined ? first : second - first;
  if (output.length > 2 || !Number.isFinite(logit)) throw new Error('the model is not a cross-encoder');
  return logit;
}
