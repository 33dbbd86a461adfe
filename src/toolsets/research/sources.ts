import { whyFound } from '../../answers/explain.ts';
import type { CallCounter } from '../../base/shared-window.ts';
import { textHash } from '../../base/text-hash.ts';
import { sharesOf } from '../../search/rank/evidence-shares.ts';
import { type Reranker, withoutModel } from '../../search/rerank/reranker.ts';
import type { NoteStore } from '../../storage/notes/notes.ts';
import type { CitableTexts } from '../../tools/citable-texts.ts';
import { countCall, type Quota } from '../../tools/quota.ts';
import type { SearchSource } from '../../tools/search-source.ts';
import { noteCitation, noteUriPrefix } from './note-resources.ts';
import { findNote, originOf, showListedNote } from './notes.ts';
import type { PageReader } from './page-reader.ts';
import { searchNotes } from './search-notes.ts';
import type { ProviderChain } from './web-search/provider-chain.ts';

export function createNotesSource(notes: NoteStore, reranker: Reranker): SearchSource {
  return {
    name: 'notes',
    description: 'research notes',
    searchedByDefault: true,
    filters: ['tag'],
    supportsWordsOnly: true,
    async search({ query, limit, includesWeak, filters: { tag } = {}, wordsOnly }, { signal }) {
      const request = {
        query,
        tags: tag === undefined ? undefined : [tag],
        limit,
        offset: 0,
        hidesWeak: !includesWeak,
        signal,
      };
      const noteReranker = wordsOnly ? withoutModel(reranker) : reranker;
      const { notes: found, omitted, reranking } = await searchNotes(request, notes, noteReranker);
      return {
        hits: found.map(({ note, relevance, evidence }) => {
          const { title, snippet, created_at: date, tags } = showListedNote(note);
          const text = [title, ...tags, snippet].join('\n');
          return {
            ...noteCitation(note),
            title,
            snippet,
            date,
            tags,
            origin: originOf(note),
            relevance,
            why: whyFound({ query, text }),
            scores: sharesOf(evidence, reranker),
          };
        }),
        omitted,
        reranking,
      };
    },
  };
}

type CountedQuota = Quota & { window: CallCounter };

/** Creates the source for web pages. Searches count against the quota of `web_search`. */
export function createWebSource(
  { resultsMax, quota }: { resultsMax: number; quota: CountedQuota },
  chain: ProviderChain,
): SearchSource {
  return {
    name: 'web',
    description: 'web pages',
    searchedByDefault: false,
    async search({ query, limit }, call) {
      await countCall(quota.window, 'search', quota, call.caller.id);
      const request = { query, limit: Math.min(limit, resultsMax), signal: call.signal };
      const { results, provider, attempts } = await chain.search(request);
      const failed = attempts.slice(0, -1).map((attempt) => `${attempt.provider} ${attempt.outcome}`);
      return {
        hits: results.map(({ title, url, snippet }, rank) => ({
          uri: url,
          hash: null,
          range: null,
          title,
          snippet,
          date: null,
          origin: 'web',
          why: `${provider} rank ${rank + 1}`,
        })),
        ...(failed.length > 0 ? { degraded: `used ${provider} instead (${failed.join(', ')})` } : {}),
      };
    },
  };
}

export function createCitableNotes(notes: NoteStore): CitableTexts {
  return {
    uriPrefixes: [noteUriPrefix],
    async read(uri, { signal }) {
      const note = await findNote(notes, uri.slice(noteUriPrefix.length), signal);
      return note && { hash: textHash(note.content), passages: [{ text: `${note.title}\n` }, { text: note.content }] };
    },
  };
}

/** Makes web pages citable, in their current version. Reading one counts against the quota of `fetch_page`. */
export function createCitablePages(quota: CountedQuota, pages: PageReader): CitableTexts {
  return {
    uriPrefixes: ['https://', 'http://'],
    tool: 'fetch_page',
    async read(url, { signal, caller }) {
      await countCall(quota.window, 'fetch', quota, caller.id);
      const { text, isTruncated } = await pages.read({ url, mode: 'text', allowCached: false, signal });
      return { hash: textHash(text), passages: [{ text }], isTruncated };
    },
  };
}
