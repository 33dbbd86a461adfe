import { identify } from './callers.ts';
import type { FakeDocument } from './fake-document.ts';
import type { FessAnswer, FessRequest, FessState } from './fess-state.ts';
import { mayRead } from './search-index.ts';

/** Answers the HTML pages from which the bridge reads content (`/cache`, `/go`). A failure is a redirect, not an error status. */
export function answerWeb(state: FessState, request: FessRequest, contextPath: string): FessAnswer {
  if (request.path.startsWith('/cache')) return cache(state, request, contextPath);
  if (request.path.startsWith('/go')) return go(state, request, contextPath);
  if (request.path.startsWith('/error/')) return html(200, 'Fess', 'The page you requested is not available.');
  if (request.path === '/') return html(200, 'Fess', 'Search');
  return notFound(request, contextPath);
}

export function notFound(request: FessRequest, contextPath: string): FessAnswer {
  return redirect(`${contextPath}/error/notfound/?url=${encodeURIComponent(request.path)}`);
}

export function html(status: number, title: string, text: string): FessAnswer {
  const body = `<!DOCTYPE html><html><head><title>${title}</title></head><body><p>${text}</p></body></html>`;
  return { status, contentType: 'text/html; charset=UTF-8', body };
}

function cache(state: FessState, request: FessRequest, contextPath: string): FessAnswer {
  const document = findReadable(state, request);
  if (document === undefined) return redirect(`${contextPath}/error/`);
  return { status: 200, contentType: 'text/html; charset=UTF-8', body: cachePage(document) };
}

/** Creates the page of `/cache`: a head, a banner in two nested boxes, then the crawled page, if any. */
export function cachePage(document: FakeDocument): string {
  const notice = `This is a cache of ${document.url}. It is a snapshot of the page at ${document.created}.`;
  return [
    '<!DOCTYPE html>',
    '<meta http-equiv="Content-Type" content="text/html; charset=UTF-8">',
    `<base href="${document.url}">`,
    '<div style="border:1px solid #999;">',
    `<div style="background:#ddd;">${notice}</div>`,
    '</div>',
    document.cachedHtml ?? '',
    '',
  ].join('\n');
}

/** Answers `/go`, which requires three parameters. Redirects to the address of a web document; streams a file itself. */
function go(state: FessState, request: FessRequest, contextPath: string): FessAnswer {
  const document = findReadable(state, request);
  const isComplete = request.params.has('queryId') && /^\d+$/.test(request.params.get('rt') ?? '');
  if (document === undefined || !isComplete) return redirect(`${contextPath}/error/`);
  if (/^https?:/.test(document.url)) return redirect(document.url);
  if (document.file === undefined) return redirect(`${contextPath}/error/notfound/`);
  return { status: 200, contentType: document.file.contentType, body: document.file.bytes };
}

/** Finds the document if the caller may read it. Like Fess, checks roles but not labels. */
function findReadable(state: FessState, { params, headers }: FessRequest): FakeDocument | undefined {
  const caller = identify(headers, state.tokens);
  if ('refused' in caller) return undefined;
  const docId = params.get('docId');
  return state.documents.find((document) => document.docId === docId && mayRead(document, caller.permissions));
}

function redirect(location: string): FessAnswer {
  return { status: 302, contentType: 'text/html', body: '', headers: { location } };
}
