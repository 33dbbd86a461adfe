import type { RerankDeps } from '../../../search/rank/rerank-page.ts';
import { createWordScores } from '../../../search/rank/retrievers.ts';
import { type RerankingState, rerankingField } from '../../../search/rerank/reranker.ts';
import type { EntryFilter } from '../../../storage/entries/entry.ts';
import type { WordQuery } from '../../../words/word-query.ts';
import type { ContextParts } from '../context-parts.ts';
import { replacementsAmong } from '../replaced-entries.ts';

/** Max characters of an entry that are read for scoring. Limits memory if many entries are long. */
const scoredCharsMax = 100_000;

/**
 * Creates the dependencies of `rerankPage` for entries. Without a parsed `query`, it uses the words of the search text.
 * A short reply ("Yes, last Friday!") is scored together with the previous message, if the reranking model supports it.
 */
export function createRerankDeps(
  { entries, reranker, texts }: Pick<ContextParts, 'entries' | 'reranker' | 'texts'>,
  { filter, query }: { filter: EntryFilter; query?: WordQuery },
): RerankDeps {
  const { asOf } = filter;
  return {
    reranker,
    async texts(ids, signal, charsMax) {
      const { questionContext } = reranker;
      const [found, previous] = await Promise.all([
        entries.get({ ids, images: false, asOf, textChars: charsMax ?? scoredCharsMax }, { signal }),
        questionContext && charsMax === undefined && asOf === undefined
          ? entries.textsBefore({ ids, charsMax: questionContext.charsMax }, { signal })
          : [],
      ]);
      const prefixes = new Map(previous.map(({ id, text }) => [id, questionContext?.prefixFor(text)]));
      return new Map(found.map(({ id, text }) => [id, { text, prefix: prefixes.get(id), isMessage: true }]));
    },
    parts: texts.parts,
    replacements: (ids, signal) => replacementsAmong(entries, ids, filter, signal),
    words: createWordScores((request, options) => entries.scoreWords(request, options), query && (() => query)),
  };
}

/** Returns the answer's fields about relevance. */
export function relevanceFields({ omitted, reranking }: { omitted: number; reranking: RerankingState | undefined }) {
  return { ...rerankingField(reranking), ...(omitted > 0 ? { weak_omitted: omitted } : {}) };
}
