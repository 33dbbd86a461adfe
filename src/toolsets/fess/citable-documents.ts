import { isCarrelError } from '../../base/errors.ts';
import type { CitableTexts } from '../../tools/citable-texts.ts';
import type { DocumentReader } from './document-reader.ts';
import { documentUri, parseUri } from './document-resources.ts';
import type { KnowledgeDomain } from './knowledge-domain.ts';

/** Makes the texts of a domain's documents citable, by the URI of the document or of its text. */
export function createCitableDocuments(documents: DocumentReader, domain: KnowledgeDomain): CitableTexts {
  const uriPrefix = documentUri(domain, '');
  return {
    uriPrefixes: [uriPrefix],
    async read(uri, call) {
      try {
        const { text, hash, isTruncated } = await documents.readText(parseUri(uri, uriPrefix).docId, call);
        return { hash, passages: [{ text }], isTruncated: isTruncated };
      } catch (error) {
        if (isCarrelError(error) && error.kind === 'not_found') return undefined;
        throw error;
      }
    },
  };
}
