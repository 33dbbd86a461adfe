import { looksLikeCode } from './chunking/code-shape.ts';
import { cosineSpanOf } from './embeddings/bundled-model.ts';
import type { MeaningLeg } from './hybrid.ts';
import type { Meaning } from './meaning/meaning.ts';

export interface MeaningSource<Filter> {
  readonly meaning: Pick<Meaning<Filter>, 'search'>;
  readonly filter: Filter | undefined;
  /** See `MeaningRequest`. */
  readonly waitMs?: number | undefined;
  /** The texts of these passages, in any order; deleted ones are left out. */
  texts(ids: readonly number[], signal: AbortSignal): Promise<readonly string[]>;
}

/** How many of the nearest passages are checked for code; they stand for the rest. */
const sampled = 10;

const never = new AbortController().signal;

/** Search by meaning over one corpus, for passages that pass the caller's filter. */
export function createMeaningLeg<Filter>({ meaning, filter, waitMs, texts }: MeaningSource<Filter>): MeaningLeg {
  return {
    async search(text, limit, signal = never) {
      const { matches, vector, pending, model } = await meaning.search({ text, limit, filter, waitMs, signal });
      return { text, vector, pending, matches, span: cosineSpanOf(model) };
    },
    async score({ text, vector }, ids, signal = never) {
      if (ids.length === 0) return [];
      const { matches } = await meaning.search({ text, vector, limit: ids.length, allowed: [...ids], signal });
      return matches;
    },
    async codeShare({ matches }, signal = never) {
      const nearest = matches.slice(0, sampled).map(({ id }) => id);
      const known = nearest.length === 0 ? [] : await texts(nearest, signal);
      return known.filter(looksLikeCode).length / Math.max(1, known.length);
    },
  };
}
