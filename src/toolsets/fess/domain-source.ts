import { isCarrelError } from '../../base/errors.ts';
import type { CitableTexts } from '../../tools/citable-texts.ts';
import type { SearchSource } from '../../tools/search-source.ts';
import type { DocumentReader } from './document-reader.ts';
import { documentUri, parseUri } from './document-resources.ts';
import type { FessApi, FessHit } from './fess-api/fess-api.ts';
import { type KnowledgeDomain, visibleLine } from './knowledge-domain.ts';

/** Provides a domain as a source for the tool `find`. */
export function createDomainSource(api: FessApi, domain: KnowledgeDomain): SearchSource {
  return {
    name: `fess_${domain.slug}`,
    description: `Fess, ${domain.name}${domain.description === '' ? '' : `: ${visibleLine(domain.description)}`}`,
    searchedByDefault: true,
    async search({ query, limit }, { signal }) {
      const request = { label: domain.labelFilter, query, num: Math.min(limit, 100) };
      const { hits, isPartial, isOutageRuledOut } = await api.search(request, { signal });
      return {
        hits: hits.map((hit, index) => ({
          uri: documentUri(domain, hit.docId),
          hash: null,
          range: null,
          title: hit.title || hit.url,
          snippet: String(hit.fields['content_description'] ?? '') || hit.digest,
          date: dateOf(hit),
          origin: 'upstream',
          why: `Fess rank ${index + 1} in ${domain.name}`,
        })),
        ...(isPartial ? { degraded: 'part of the index did not respond' } : {}),
        ...(isOutageRuledOut ? {} : { degraded: 'Fess does not report whether its search engine is up' }),
      };
    },
  };
}

function dateOf({ fields }: FessHit): string | null {
  const date = new Date(String(fields['last_modified'] ?? fields['created'] ?? fields['timestamp'] ?? ''));
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

/** Makes the texts of a domain's documents citable, by the URI of the document or of its text. */
export function createCitableDocuments(documents: DocumentReader, domain: KnowledgeDomain): CitableTexts {
  const uriPrefix = documentUri(domain, '');
  return {
    uriPrefixes: [uriPrefix],
    async read(uri, call) {
      try {
        const { text, hash, isTruncated } = await documents.readText(parseUri(uri, uriPrefix).docId, call);
        return { hash, passages: [{ text }], isTruncated };
      } catch (error) {
        if (isCarrelError(error) && error.kind === 'not_found') return undefined;
        throw error;
      }
    },
  };
}
