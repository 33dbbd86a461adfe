import { shortHash, whyFound } from '../../../answers/explain.ts';
import { isObject } from '../../../base/json.ts';
import type { Engine, EngineHit } from '../../../engine/engine.ts';
import { threeDigits } from '../../../search/rank/relevance.ts';
import type { SearchSource, SourceHit } from '../../../tools/search-source.ts';
import { makeSnippet } from '../../../words/snippet.ts';
import { plainQuery } from '../../../words/word-query.ts';
import { splitTags, tagsToMatch } from '../inputs/collections.ts';
import { documentUriPrefix, originOfDocument } from './shapes.ts';

/** Chunks requested per hit. More than one, because several chunks may belong to the same document. */
const chunksPerHit = 2;
const chunksMax = 100;

/** Max chunks that count for the relevance of their document. Irrelevant chunks of a long document must not add up. */
const relevantChunksMax = 3;

export function createDocumentSource(engine: Pick<Engine, 'search'>): SearchSource {
  return {
    name: 'kb',
    description: 'documents',
    searchedByDefault: true,
    filters: ['collection', 'type', 'tag'],
    supportsWordsOnly: true,
    async search(
      { query, limit, includesWeak, filters: { collection: requestedCollection, type, tag } = {}, wordsOnly },
      { signal },
    ) {
      if (query.trim() === '') return { hits: [] };
      const top = Math.min(chunksMax, limit * chunksPerHit);
      const tags = tagsToMatch({ collection: requestedCollection, tags: tag === undefined ? [] : [tag] });
      const request = { query, top, tags, doc_type: type, include_weak: includesWeak };
      const {
        results,
        degraded,
        weak_omitted: omitted,
        reranking,
      } = await engine.search(request, { signal, wordsOnly });
      const words = plainQuery(query);
      const hits: SourceHit[] = [];
      for (const [uri, chunks] of Map.groupBy(results, uriOf)) {
        const [hit] = chunks;
        if (hit === undefined) continue;
        const { chunk_metadata: metadata } = hit;
        const { collection, tags: otherTags } = splitTags(hit.tags);
        const place = [metadata.page === undefined ? undefined : `page ${metadata.page}`, metadata.section_header];
        const location = [collection === null ? undefined : `in ${collection}`, ...place];
        const snippet = makeSnippet(hit.text, words);
        hits.push({
          uri,
          hash: hit.content_hash == null ? null : shortHash(hit.content_hash),
          range: snippet.range,
          chunk_index: hit.chunk_index,
          place: place.filter((part) => part !== undefined).join(', ') || undefined,
          title: hit.title,
          snippet: snippet.text,
          date: hit.created_at === '' ? null : hit.created_at,
          collection: collection ?? undefined,
          type: hit.doc_type,
          tags: otherTags,
          origin: originOfDocument(hit),
          relevance: relevanceOf(chunks),
          why: whyFound({
            query,
            text: `${hit.title}\n${hit.text}`,
            passage: hit.text,
            location: location.filter((part) => part !== undefined).join(', ') || undefined,
          }),
          ...scoresOf(hit),
        });
      }
      return {
        hits: hits.toSorted((left, right) => (right.relevance ?? 0) - (left.relevance ?? 0)).slice(0, limit),
        ...(omitted === undefined ? {} : { omitted }),
        reranking,
        ...(degraded === undefined ? {} : { degraded }),
      };
    },
  };
}

/** Returns the URI of a chunk's document, or of the chunk itself if the engine does not report the document's id. */
function uriOf({ document_id: id, chunk_id: chunkId }: EngineHit): string {
  return id === null ? `carrel://kb/chunk/${chunkId}` : `${documentUriPrefix}${id}`;
}

/** Returns the probability that at least one of a document's best chunks is relevant. Undefined if the engine reports none. */
function relevanceOf(chunks: readonly EngineHit[]): number | undefined {
  const best = chunks.slice(0, relevantChunksMax).flatMap(({ relevance }) => relevance ?? []);
  return best.length === 0 ? undefined : threeDigits(1 - best.reduce((product, each) => product * (1 - each), 1));
}

/** Returns the scores, which only Carrel's own engine reports. */
function scoresOf({ why }: EngineHit): Pick<SourceHit, 'scores'> {
  const { evidence } = why ?? {};
  return isObject(evidence) ? { scores: evidence } : {};
}
