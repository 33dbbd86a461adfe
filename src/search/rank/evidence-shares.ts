import type { Reranker } from '../rerank/reranker.ts';
import { type Evidence, threeDigits } from './relevance.ts';

/** The evidence for a hit as shares from 0 to 1, for display. Unknown values are omitted. */
export interface EvidenceShares {
  readonly words?: number;
  readonly meaning?: number;
  /** The relevance by the reranking model alone. */
  readonly reranker?: number;
}

export function sharesOf({ words, cosine, logit, lead }: Evidence, { judge }: Pick<Reranker, 'judge'>): EvidenceShares {
  return {
    ...(words === undefined ? {} : { words: threeDigits(words) }),
    ...(cosine === undefined ? {} : { meaning: threeDigits(Math.max(0, cosine)) }),
    ...(logit === undefined ? {} : { reranker: judge({ logit, lead }).relevance }),
  };
}
