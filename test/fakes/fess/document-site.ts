import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type RecordedRequest, recordRequest } from './recorded-request.ts';

export interface SitePage {
  status?: number;
  contentType?: string;
  body?: string | Uint8Array;
  headers?: Record<string, string>;
  /** Never answers. */
  hangs?: boolean;
}

export interface DocumentSite {
  url: string;
  requests: RecordedRequest[];
  /** Adds or replaces a page. If `page` is a function, it is called for every request. */
  setPage(path: string, page: SitePage | (() => SitePage)): void;
  close(): Promise<void>;
}

/**
 * Starts the web server that has the indexed documents: HTML, text and PDF pages, redirects (also circular and to a private
 * address), an endless page, and one that never answers. It has every `/<label>/<n>.html` of a generated corpus.
 */
export async function startDocumentSite(): Promise<DocumentSite> {
  const pages = new Map<string, SitePage | (() => SitePage)>(Object.entries(standardPages()));
  const requests: RecordedRequest[] = [];
  const server = createServer({ keepAliveTimeout: 0 }, (message, response) => {
    const recorded = recordRequest(message, response);
    requests.push(recorded);
    const entry = pages.get(recorded.path) ?? corpusPage(recorded.path);
    const page = typeof entry === 'function' ? entry() : entry;
    if (page.hangs === true) return;
    response.writeHead(page.status ?? 200, {
      'content-type': page.contentType ?? 'text/html; charset=utf-8',
      ...page.headers,
    });
    response.end(page.body ?? '');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    setPage: (path, page) => void pages.set(path, page),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function standardPages(): Record<string, SitePage> {
  return {
    '/page.html': { body: htmlPage('A page', ['First paragraph.', 'Second paragraph with <b>bold</b> &amp; more.']) },
    '/plain.txt': { contentType: 'text/plain; charset=utf-8', body: 'Plain text.\nGrüße, 世界.\n' },
    '/latin1.txt': { contentType: 'text/plain; charset=iso-8859-1', body: Buffer.from('Grüße', 'latin1') },
    '/document.pdf': { contentType: 'application/pdf', body: pdf('Text inside a PDF') },
    '/long.txt': {
      contentType: 'text/plain',
      body: Array.from({ length: 20_000 }, (_, i) => `Line ${i} é世🎉`).join('\n'),
    },
    '/big.bin': { contentType: 'application/octet-stream', body: Buffer.alloc(8 * 1024 * 1024) },
    '/big.html': { body: htmlPage('Big', ['x'.repeat(6 * 1024 * 1024)]) },
    '/moved': { status: 302, headers: { location: '/page.html' } },
    '/circle': { status: 302, headers: { location: '/circle' } },
    '/to-private': { status: 302, headers: { location: 'http://10.0.0.1/secret' } },
    '/to-file': { status: 302, headers: { location: 'file:///etc/passwd' } },
    '/gone': { status: 410, body: 'gone' },
    '/silent': { hangs: true },
  };
}

function corpusPage(path: string): SitePage {
  const [, label, number] = /^\/([a-z_]+)\/(\d+)\.html$/.exec(path) ?? [];
  if (label === undefined) return { status: 404, body: htmlPage('Not found', []) };
  return { body: htmlPage(`${label} ${number}`, [`Page ${number} of ${label}.`, 'It has a second paragraph.']) };
}

function htmlPage(title: string, paragraphs: readonly string[]): string {
  const body = paragraphs.map((paragraph) => `<p>${paragraph}</p>`).join('\n');
  return `<!DOCTYPE html><html><head><title>${title}</title><script>var hidden = 1;</script></head><body>${body}</body></html>`;
}

/** Creates a PDF with one page, one line and a correct cross-reference table. */
export function pdf(text: string): Uint8Array {
  const stream = `BT /F1 24 Tf 72 720 Td (${text.replaceAll(/[()\\]/g, '\\$&')}) Tj ET`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  let file = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const offset = file.length;
    file += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const trailer = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${file.length}\n%%EOF\n`;
  return Buffer.from(`${file}xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}${trailer}`, 'latin1');
}
