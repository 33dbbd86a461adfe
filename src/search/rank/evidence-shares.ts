import type { Reranker } from '../rerank/reranker.ts';
import { type Evidence, threeDigits } from './relevance.ts';

/** The evidence for a hit, for display. The first three values are from 0 to 1. Unknown values are omitted. */
export interface EvidenceShares {
  readonly words?: number;
  readonly meaning?: number;
  /** The relevance according to the reranking model alone. */
  readonly reranker?: number;
  /** The output of the reranking model, and its lead over the other hits; see `Evidence`. */
  readonly logit?: number;
  readonly lead?: number;
}

export function sharesOf({ words, cosine, logit, lead }: Evidence, { judge }: Pick<Reranker, 'judge'>): EvidenceShares {
  return {
    ...(words === undefined ? {} : { words: threeDigits(words) }),
    ...(cosine === undefined ? {} : { meaning: threeDigits(Math.max(0, cosine)) }),
    ...(logit === undefined ? {} : { reranker: judge({ logit, lead }).relevance, logit: threeDigits(logit) }),
    ...(lead === undefined ? {} : { lead: threeDigits(lead) }),
  };
}
