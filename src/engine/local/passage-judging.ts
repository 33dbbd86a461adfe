import type { JudgeDeps } from '../../search/judging.ts';
import type { Reranker } from '../../search/reranking/reranker.ts';
import type { WordLeg } from '../../search/word-leg.ts';
import type { PassageStore } from '../../storage/contracts/passages.ts';

/** Judges chunks by their text, with the title and the headings above it. */
export function createPassageJudging(
  passages: Pick<PassageStore, 'get'>,
  reranker: Reranker,
  words: Pick<WordLeg, 'score'>,
): JudgeDeps {
  return {
    reranker,
    words,
    async texts(ids, signal) {
      const found = await passages.get(ids, { signal });
      return new Map(
        found.map(({ key, title, headings, body }) => {
          const heading = [title, ...headings].filter((part) => part !== '').join(' / ');
          return [key, { text: body, lead: heading && `${heading}\n` }];
        }),
      );
    },
  };
}
