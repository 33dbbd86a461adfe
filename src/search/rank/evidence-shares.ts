import type { Reranker } from '../rerank/reranker.ts';
import { type Evidence, threeDigits } from './relevance.ts';

/** The evidence for a hit as shares, each 0 to 1, for whoever wants to see it. What is not known is left out. */
export interface EvidenceShares {
  readonly words?: number;
  readonly meaning?: number;
  /** How relevant the hit would be by what the reranking model says alone. */
  readonly reranker?: number;
}

export function sharesOf({ words, cosine, logit, lead }: Evidence, { judge }: Pick<Reranker, 'judge'>): EvidenceShares {
  return {
    ...(words === undefined ? {} : { words: threeDigits(words) }),
    ...(cosine === undefined ? {} : { meaning: threeDigits(Math.max(0, cosine)) }),
    ...(logit === undefined ? {} : { reranker: judge({ logit, lead }).relevance }),
  };
}
