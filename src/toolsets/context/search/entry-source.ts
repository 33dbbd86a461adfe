import { whyFound } from '../../../answers/explain.ts';
import { sharesOf } from '../../../search/rank/evidence-shares.ts';
import { withoutModel } from '../../../search/rerank/reranker.ts';
import { originOfMetadata } from '../../../tools/origin.ts';
import type { SearchSource } from '../../../tools/search-source.ts';
import { makeSnippet } from '../../../words/snippet.ts';
import { nothing } from '../../../words/word-query.ts';
import { type ContextParts, loadEntries } from '../context-parts.ts';
import { citationOf, titleOf } from '../show/entry-resources.ts';
import { entryUriPrefix } from '../show/entry-shapes.ts';
import { searchEntries } from './hybrid-entries.ts';
import type { Excerpt } from './text-thread.ts';

/** Max characters of a title. Entries have none, so their first line is used. */
const titleChars = 40;

export function createEntrySource(
  settings: { words: boolean },
  parts: Pick<ContextParts, 'entries' | 'meaning' | 'backend' | 'rrfK' | 'reranker' | 'texts'>,
): SearchSource {
  return {
    name: 'context',
    description: 'memory',
    searchedByDefault: true,
    filters: ['tag'],
    supportsWordsOnly: true,
    async search({ query, limit, includesWeak, filters: { tag } = {}, wordsOnly }, { signal }) {
      const text = query.trim();
      if (text === '') return { hits: [] };
      const page = { limit, offset: 0, includesWeak };
      const filterFields = tag === undefined ? { filter: {}, applied: 0 } : { filter: { tags: [tag] }, applied: 1 };
      const request = { text, ...filterFields, ...page, rrfK: parts.rrfK, explain: false, signal };
      const usedParts = wordsOnly ? { ...parts, meaning: undefined, reranker: withoutModel(parts.reranker) } : parts;
      const { matches, warnings, omitted, reranking } = await searchEntries(request, settings, usedParts);
      const top = new Map(matches.map((match) => [match.id, match]));
      const found = await loadEntries(parts.entries, [...top.keys()], { images: false }, signal);
      const excerpts = await excerptsOf(
        found.map((entry) => ({ text: entry.text, part: passageOf(entry.text, top.get(entry.id)?.range) })),
        text,
        signal,
      );
      return {
        hits: found.map((entry, index) => {
          const { relevance, evidence, replaces, replacedBy } = top.get(entry.id) ?? {};
          const { passage, excerpt } = excerpts[index] ?? {};
          const shown = passage && excerpt && toTextOffsets(passage, excerpt);
          return {
            ...citationOf(entry, shown?.range),
            title: titleOf(entry.text, titleChars),
            snippet: shown?.snippet ?? '',
            date: entry.createdAt,
            tags: entry.tags,
            origin: originOfMetadata(entry.metadata),
            relevance,
            replaces: uriOf(replaces),
            replaced_by: uriOf(replacedBy),
            why: whyFound({ query: text, text: entry.text, words: excerpt?.words, passage: passage?.text }),
            scores: sharesOf(evidence ?? {}, parts.reranker),
          };
        }),
        omitted,
        reranking,
        ...(warnings.degraded === undefined ? {} : { degraded: warnings.warnings?.join('; ') ?? warnings.degraded }),
      };
    },
  };

  /**
   * Returns an excerpt of each text: from the part that the model read or, if that has no query words, from the whole
   * text.
   */
  async function excerptsOf(texts: readonly ScoredText[], query: string, signal: AbortSignal) {
    const excerpt = (list: readonly string[]) => parts.texts.excerpts(list, query, signal);
    const partExcerpts = await excerpt(texts.map(({ part }) => part.text));
    const withoutMatches = texts.flatMap((_, index) => (partExcerpts[index]?.words.length === 0 ? [index] : []));
    const textExcerpts = await excerpt(withoutMatches.map((index) => texts[index]?.text ?? ''));
    return texts.map(({ part, text }, index) => {
      const textExcerpt = textExcerpts[withoutMatches.indexOf(index)];
      return textExcerpt && textExcerpt.words.length > 0
        ? { passage: { text, start: 0 }, excerpt: textExcerpt }
        : { passage: part, excerpt: partExcerpts[index] };
    });
  }
}

interface ScoredText {
  readonly text: string;
  readonly part: Passage;
}

interface Passage {
  readonly text: string;
  readonly start: number;
}

function uriOf(id: number | undefined): string | undefined {
  return id === undefined ? undefined : `${entryUriPrefix}${id}`;
}

/** Returns the part that the model read, from the start of a word on. By default, returns the whole text. */
function passageOf(text: string, [from, to]: readonly [start: number, end: number] = [0, text.length]): Passage {
  // The part was cut at a character count, possibly inside a word.
  const start = from === 0 ? 0 : from + Math.max(0, text.slice(from, to).search(/(?<=\s)\S/));
  return { text: text.slice(start, to), start };
}

/**
 * Converts the excerpt's range to offsets in the whole text. A hit without query words shows the beginning of its
 * passage.
 */
function toTextOffsets({ text, start }: Passage, { snippet, range, words }: Excerpt): Omit<Excerpt, 'words'> {
  const beginning = words.length > 0 ? undefined : makeSnippet(text, nothing);
  const [from, to] = beginning?.range ?? range;
  const shown = beginning?.text ?? snippet;
  return { snippet: start > 0 ? `…${shown.replace(/^…/, '')}` : shown, range: [start + from, start + to] };
}
