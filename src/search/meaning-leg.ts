import { looksLikeCode } from './chunking/code-shape.ts';
import type { MeaningMatch } from './fusion.ts';
import type { MeaningLeg } from './hybrid.ts';
import type { Meaning } from './meaning/meaning.ts';

export interface MeaningSource<Filter> {
  readonly meaning: Pick<Meaning<Filter>, 'search'>;
  readonly filter: Filter | undefined;
  /** The texts of some passages, by id, to tell whether they are code. Without it, none are taken for code. */
  texts?(ids: readonly number[], signal: AbortSignal): Promise<ReadonlyMap<number, string>>;
}

/** So many of the nearest passages are looked at; they stand for the others. */
const sampled = 10;

const never = new AbortController().signal;

/** The search by meaning over one corpus, for passages that the filter of the call lets through. */
export function createMeaningLeg<Filter>({ meaning, filter, texts }: MeaningSource<Filter>): MeaningLeg {
  return {
    async search(text, limit, signal = never) {
      const { matches, vector, pending } = await meaning.search({ text, limit, filter, signal });
      return { text, vector, pending, matches: await markCode(matches, signal) };
    },
    async score({ text, vector }, ids, signal = never) {
      if (ids.length === 0) return [];
      const { matches } = await meaning.search({ text, vector, limit: ids.length, allowed: [...ids], signal });
      return matches;
    },
  };

  async function markCode(matches: readonly MeaningMatch[], signal: AbortSignal): Promise<MeaningMatch[]> {
    const first = matches.slice(0, sampled).map(({ id }) => id);
    const known = texts === undefined || first.length === 0 ? undefined : await texts(first, signal);
    return matches.map((match) => {
      const text = known?.get(match.id);
      return text === undefined ? { ...match } : { ...match, code: looksLikeCode(text) };
    });
  }
}
