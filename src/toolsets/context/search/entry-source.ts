import { sharesOf } from '../../../search/evidence-shares.ts';
import { originOfMetadata } from '../../../tools/origin.ts';
import type { SearchSource } from '../../../tools/search-source.ts';
import { whyFound } from '../../../tools/why-found.ts';
import { makeSnippet } from '../../../words/snippet.ts';
import { nothing } from '../../../words/word-query.ts';
import { type ContextParts, loadEntries } from '../context-parts.ts';
import { citationOf } from '../show/citation.ts';
import { titleOf } from '../show/entry-resources.ts';
import { searchEntries } from './hybrid-entries.ts';

export function createEntrySource(
  settings: { words: boolean },
  parts: Pick<ContextParts, 'entries' | 'meaning' | 'backend' | 'rrfK' | 'reranker' | 'texts'>,
): SearchSource {
  return {
    name: 'context',
    description: 'What was stored in conversations and tasks',
    askedByDefault: true,
    async search({ query, limit, includesWeak }, { signal }) {
      const text = query.trim();
      if (text === '') return { hits: [] };
      const page = { limit, offset: 0, includesWeak };
      const request = { text, filter: {}, applied: 0, ...page, rrfK: parts.rrfK, explain: false, signal };
      const { matches, warnings, omitted, reranking } = await searchEntries(request, settings, parts);
      const top = new Map(matches.map((match) => [match.id, match]));
      const found = await loadEntries(parts.entries, [...top.keys()], { images: false }, signal);
      const excerpts = await parts.texts.excerpts(
        found.map((entry) => entry.text),
        text,
        signal,
      );
      return {
        hits: found.map((entry, place) => {
          const { relevance, range, evidence } = top.get(entry.id) ?? {};
          const passage = range && entry.text.slice(...range);
          const excerpt = excerpts[place];
          const shown =
            excerpt && (excerpt.words.length > 0 ? excerpt : beginningOf(entry.text, range ?? excerpt.range));
          return {
            ...citationOf(entry, shown?.range),
            title: titleOf(entry.text),
            snippet: shown?.snippet ?? '',
            date: entry.createdAt,
            origin: originOfMetadata(entry.metadata),
            relevance,
            why: whyFound({ query: text, text: entry.text, words: excerpt?.words, passage, relevance }),
            scores: sharesOf(evidence ?? {}, parts.reranker),
          };
        }),
        omitted,
        reranking,
        ...(warnings.degraded === undefined ? {} : { degraded: warnings.warnings?.join('; ') ?? warnings.degraded }),
      };
    },
  };
}

/** Of a passage that was found by its meaning: there are no words to show it around. */
function beginningOf(
  text: string,
  [from, to]: readonly [start: number, end: number],
): { snippet: string; range: [start: number, end: number] } {
  // A passage is so many characters, and may begin within a word.
  const start = from === 0 ? 0 : from + Math.max(0, text.slice(from, to).search(/(?<=\s)\S/));
  const { text: snippet, range } = makeSnippet(text.slice(start, to), nothing);
  return { snippet: start === 0 ? snippet : `…${snippet}`, range: [start, start + range[1]] };
}
