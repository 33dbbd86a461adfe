import { CarrelError } from '../../base/errors.ts';
import type { Call } from '../../tools/call.ts';
import type { ResourceContents, ResourceProvider, ResourceSummary } from '../../tools/resource.ts';
import { createCursorSigner } from '../../tools/signed-cursor.ts';
import type { DocumentReader } from './document-reader.ts';
import type { FessApi, FessHit } from './fess-api/fess-api.ts';
import { type KnowledgeDomain, visibleLine } from './knowledge-domain.ts';

interface DocumentResourcesDeps {
  api: FessApi;
  documents: DocumentReader;
  domain: KnowledgeDomain;
  pageSizeMax: number;
}

/** Provides a domain's documents as MCP resources: metadata and text. */
export function createDocumentResources(deps: DocumentResourcesDeps): ResourceProvider {
  const { api, documents, domain, pageSizeMax } = deps;
  const uriPrefix = documentUri(domain, '');
  const cursors = createCursorSigner(`fess list ${domain.slug}`);

  return {
    uriPrefix,
    templates: [
      {
        uriTemplate: `${uriPrefix}{docId}`,
        name: `fess_${domain.slug}_document`,
        title: `Document of ${domain.name}`,
        description: `Title, URL, digest and dates of a document, by the doc_id of a search result.\n\n${domain.block}`,
        mimeType: 'application/json',
      },
      {
        uriTemplate: `${uriPrefix}{docId}/content`,
        name: `fess_${domain.slug}_content`,
        title: `Text of a document of ${domain.name}`,
        description: `The full text of a document, in chunks if it is long.\n\n${domain.block}`,
        mimeType: 'text/plain',
      },
    ],
    async list(cursor, { signal }) {
      const start = cursor === undefined ? 0 : cursors.read(cursor).at;
      // The only sort order of Fess that stays the same from page to page.
      const request = { label: domain.labelFilter, query: '*:*', start, num: pageSizeMax, sort: 'created.asc' };
      const { hits, nextStart } = await api.search(request, { signal });
      if (hits.length === 0 && start > 0) {
        throw new CarrelError('invalid_cursor', 'This cursor has expired. List again without one.');
      }
      return {
        resources: hits.flatMap((hit) => resourcesOf(domain, hit)),
        ...(nextStart === undefined ? {} : { nextCursor: cursors.issue(nextStart) }),
      };
    },
    async read({ uri, cursor }, call) {
      const { docId, isContent } = parseUri(uri, uriPrefix);
      return isContent ? readContent(documents, uri, docId, cursor, call) : readDocument(documents, uri, docId, call);
    },
    complete: (_template, variable, typed, call) =>
      variable === 'docId' ? completeDocId(api, domain.labelFilter, typed, call) : Promise.resolve([]),
  };
}

export function documentUri({ slug }: KnowledgeDomain, docId: string): string {
  return `fess://${slug}/doc/${docId}`;
}

async function readDocument(
  documents: DocumentReader,
  uri: string,
  docId: string,
  call: Call,
): Promise<ResourceContents> {
  const { document, hash } = await documents.document(docId, call);
  const { title, url, digest, fields } = document;
  const text = JSON.stringify({ title, url, digest, doc_id: docId, ...fields, hash }, null, 2);
  const meta = { doc_id: docId, url, hash };
  return { contents: [{ uri, mimeType: 'application/json', text, _meta: meta }], _meta: meta };
}

async function readContent(
  documents: DocumentReader,
  uri: string,
  docId: string,
  cursor: string | undefined,
  call: Call,
): Promise<ResourceContents> {
  const { document, chunk, isTruncated } = await documents.readChunk(docId, cursor, call);
  const { text, ...position } = chunk;
  const meta = { doc_id: docId, url: document.url, ...position, ...(isTruncated ? { truncated: true } : {}) };
  return {
    contents: [{ uri, mimeType: 'text/plain', text, _meta: meta }],
    ...(chunk.nextCursor === undefined ? {} : { nextCursor: chunk.nextCursor }),
    isLast: chunk.isLast,
    _meta: meta,
  };
}

function resourcesOf(domain: KnowledgeDomain, { docId, title, url, digest }: FessHit): ResourceSummary[] {
  const uri = documentUri(domain, docId);
  const name = visibleLine(title) || visibleLine(url) || docId;
  // On one line, so that no document can imitate the `[Knowledge Domain]` block.
  const summary = visibleLine(digest) || visibleLine(url);
  return [
    { uri, name, title: name, description: `${domain.block}\n\n${summary}`, mimeType: 'application/json' },
    {
      uri: `${uri}/content`,
      name,
      title: name,
      description: `${domain.block}\n\nFull text: ${summary}`,
      mimeType: 'text/plain',
    },
  ];
}

export function parseUri(uri: string, uriPrefix: string): { docId: string; isContent: boolean } {
  const [, docId, content] = /^([A-Za-z0-9_-]{1,100})(\/content)?$/.exec(uri.slice(uriPrefix.length)) ?? [];
  if (docId === undefined) {
    const message = `Unknown URI: documents are ${uriPrefix}<docId> and ${uriPrefix}<docId>/content.`;
    throw new CarrelError('resource_not_found', message);
  }
  return { docId, isContent: content !== undefined };
}

/** Completes an id. Nobody types ids, so other text is completed by Fess and searched for. */
async function completeDocId(api: FessApi, label: string, typed: string, { signal }: Call): Promise<string[]> {
  const text = typed.trim();
  const ids = async (query: string): Promise<string[]> =>
    (await api.search({ label, query, num: completionsMax }, { signal })).hits.map(({ docId }) => docId);
  if (text === '') return ids('*:*');
  const byId = /^[0-9a-f]{3,}$/.test(text) ? await ids(`doc_id:${text}*`) : [];
  if (byId.length > 0) return byId;
  const [suggestion] = await api.suggest({ label, prefix: text, num: 1 }, { signal });
  const suggested = suggestion === undefined ? [] : await ids(suggestion.text);
  return suggested.length > 0 ? suggested : ids(text);
}

const completionsMax = 20;
