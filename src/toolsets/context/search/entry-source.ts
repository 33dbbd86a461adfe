import { originOfMetadata } from '../../../tools/origin.ts';
import type { SearchSource } from '../../../tools/search-source.ts';
import { makeSnippet } from '../../../words/snippet.ts';
import { plainQuery } from '../../../words/word-query.ts';
import { type ContextParts, loadEntries } from '../context-parts.ts';
import { entryUriPrefix, titleOf } from '../show/entry-resources.ts';
import { searchEntries } from './hybrid-entries.ts';

export function createEntrySource(
  settings: { words: boolean },
  parts: Pick<ContextParts, 'entries' | 'meaning' | 'backend' | 'rrfK' | 'reranks'>,
): SearchSource {
  return {
    name: 'context',
    description: 'What was stored in conversations and tasks',
    askedByDefault: true,
    async search(query, limit, { signal }) {
      const text = query.trim();
      if (text === '') return { hits: [] };
      const request = { text, filter: {}, applied: 0, limit, offset: 0, rrfK: parts.rrfK, explain: false, signal };
      const { matches, warnings } = await searchEntries(request, settings, parts);
      const top = new Map(matches.map(({ id, scores }) => [id, scores]));
      const found = await loadEntries(parts.entries, [...top.keys()], { images: false }, signal);
      const words = plainQuery(text);
      return {
        hits: found.map((entry) => {
          const scores = top.get(entry.id);
          const ways = [
            scores?.fts_rank ? `words (rank ${scores.fts_rank})` : undefined,
            scores?.semantic_rank ? `meaning (rank ${scores.semantic_rank})` : undefined,
          ];
          return {
            uri: `${entryUriPrefix}${entry.id}`,
            title: titleOf(entry.text),
            snippet: makeSnippet(entry.text, words).text,
            date: entry.createdAt,
            origin: originOfMetadata(entry.metadata),
            score: scores?.rrf ?? 0,
            why: `found by ${ways.filter((way) => way !== undefined).join(' and ')}`,
          };
        }),
        ...(warnings.degraded === undefined ? {} : { degraded: warnings.warnings?.join('; ') ?? warnings.degraded }),
      };
    },
  };
}
