import type { Statements } from '../dialect.ts';
import { reads, type StoreOf } from '../store-operations.ts';
import { lookAtPassageVectors, scoreVectors } from '../vectors/read-vectors.ts';
import type { CompletedPassages, CompletePassages, FindPassages, FoundPassages } from './passage.ts';
import { getPassages, matchingPassages, scorePassageWords, searchPassages } from './read-passages.ts';

/** A search takes two reads, `findPassages` and `completePassages`. Each sees one snapshot of the data. */

export async function findPassages(on: Statements, { words, near }: FindPassages): Promise<FoundPassages> {
  return {
    near: near && (await lookAtPassageVectors(on, near)),
    words: words && (await searchPassages(on, words)),
  };
}

export async function completePassages(
  on: Statements,
  { keys: given, query, vectors, ownersMax }: CompletePassages,
): Promise<CompletedPassages> {
  const { nearest } = on.dialect.vectors;
  const scored =
    vectors === undefined
      ? []
      : 'keys' in vectors
        ? await scoreVectors(on, { corpus: 'kb', ...vectors })
        : ((await nearest?.kb(on, vectors)) ?? []);
  const ordered = scored.toSorted((left, right) => right.score - left.score);
  const owners = [...new Set(ordered.map(({ owner }) => owner))].slice(0, ownersMax);
  const keys = [...new Set([...given, ...owners])];
  return {
    scored,
    words: query && (await scorePassageWords(on, { query, keys })),
    passages: await getPassages(on, keys),
  };
}

/** All operations are reads: passages are written with their documents. */
export const passageOperations = reads(
  {
    get: getPassages,
    search: searchPassages,
    find: findPassages,
    complete: completePassages,
    scoreWords: scorePassageWords,
    matching: matchingPassages,
  },
  { replica: true },
);

/**
 * The searchable parts of documents. A document's passages are written together, so a reader sees either all old or all new
 * ones.
 */
export type PassageStore = StoreOf<typeof passageOperations>;
