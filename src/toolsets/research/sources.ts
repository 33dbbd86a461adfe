import type { SlidingWindow } from '../../base/sliding-window.ts';
import type { NoteStore } from '../../storage/contracts/notes.ts';
import { type Quota, spend } from '../../tools/quota.ts';
import type { SearchSource } from '../../tools/search-source.ts';
import { noteUriPrefix } from './note-resources.ts';
import { showListedNote } from './notes.ts';
import type { ProviderChain } from './web-search/provider-chain.ts';

export function createNotesSource(notes: NoteStore): SearchSource {
  return {
    name: 'notes',
    description: 'Research notes',
    askedByDefault: true,
    async search(query, limit, call) {
      const { notes: found } = await notes.list({ query, limit, offset: 0 }, { signal: call.signal });
      return {
        hits: found.map((listed, rank) => {
          const { id, title, snippet, created_at: date, tags, origin } = showListedNote(listed);
          const matched = new Set(
            listed.snippet.marks.map(([from, to]) => listed.snippet.text.slice(from, to).toLowerCase()),
          );
          const words = [...matched].slice(0, 5).join(', ');
          return {
            uri: noteUriPrefix + id,
            title,
            snippet,
            date,
            origin,
            score: 1 / (rank + 1),
            why: words === '' ? outsideTheText(tags) : `matches ${words}`,
          };
        }),
      };
    },
  };
}

/** The passage has none of the words, so they are in the title or tags. */
function outsideTheText(tags: readonly string[]): string {
  return tags.length === 0 ? 'its title matches' : `its title or tags (${tags.join(', ')}) match`;
}

export interface WebSourceConfig {
  resultsMax: number;
  /** A search by `find` counts against the quota of `web_search`. */
  quota: Quota & { window: SlidingWindow };
}

export function createWebSource({ resultsMax, quota }: WebSourceConfig, chain: ProviderChain): SearchSource {
  return {
    name: 'web',
    description: 'The web',
    askedByDefault: false,
    async search(query, limit, call) {
      spend(quota.window, 'search', quota, call.caller.id);
      const wanted = { query, limit: Math.min(limit, resultsMax), signal: call.signal };
      const { results, provider, attempts } = await chain.search(wanted);
      const blocked = attempts.slice(0, -1).map((attempt) => `${attempt.provider} ${attempt.outcome}`);
      return {
        hits: results.map(({ title, url, snippet }, rank) => ({
          uri: url,
          title,
          snippet,
          date: null,
          origin: 'web',
          score: 1 / (rank + 1),
          why: `result ${rank + 1} of ${provider}`,
        })),
        ...(blocked.length > 0 ? { degraded: `${provider} stood in (${blocked.join(', ')})` } : {}),
      };
    },
  };
}
