import { originOfMetadata } from '../../../tools/origin.ts';
import type { SearchSource } from '../../../tools/search-source.ts';
import { whyFound } from '../../../tools/why-found.ts';
import { type ContextParts, loadEntries } from '../context-parts.ts';
import { entryUriPrefix, titleOf } from '../show/entry-resources.ts';
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
          const { relevance, window } = top.get(entry.id) ?? {};
          const { hash = '', snippet = '', words = [] } = excerpts[place] ?? {};
          const passage = window && entry.text.slice(window.start, window.end);
          return {
            uri: `${entryUriPrefix}${entry.id}`,
            hash,
            title: titleOf(entry.text),
            snippet,
            date: entry.createdAt,
            origin: originOfMetadata(entry.metadata),
            relevance,
            why: whyFound({ query: text, text: entry.text, words, passage, relevance }),
          };
        }),
        omitted,
        reranking,
        ...(warnings.degraded === undefined ? {} : { degraded: warnings.warnings?.join('; ') ?? warnings.degraded }),
      };
    },
  };
}
