import type { Reranker, RerankingState } from './reranker.ts';

/** A reranker that tells how long it took over how many candidates, and whether it was applied. */
export function measuredReranker(
  reranker: Reranker,
  scored: (scoring: { state: RerankingState['state']; candidates: number; ms: number }) => void,
): Reranker {
  return {
    ...reranker,
    async score(query, passages, signal) {
      const start = performance.now();
      const answer = await reranker.score(query, passages, signal);
      // Nothing was found that could be ordered.
      if (passages.length > 0) {
        scored({ state: answer.state.state, candidates: passages.length, ms: performance.now() - start });
      }
      return answer;
    },
  };
}
