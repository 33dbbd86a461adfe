import { assetsVersion } from '../assets.ts';
import { read } from '../console-tools.ts';
import { type Html, html } from '../html.ts';

/** Max characters of the passage to mark. */
const passageCharsMax = 4_000;

/**
 * Renders the place for a picture of a PDF's page with a marked passage; undefined for other documents. The script draws it from
 * the original file, which only visitors who may read the document can download.
 */
export function pdfPage(
  document: Record<string, unknown>,
  chunk: Record<string, unknown> = {},
  passage = '',
): Html | undefined {
  if (read.text(document, 'doc_type') !== 'pdf' || document['has_file'] !== true) return undefined;
  const page = read.number(read.object(chunk, 'chunk_metadata'), 'page') ?? 1;
  const version = assetsVersion();
  return html`<figure class="pdf" data-pdf="/documents/${read.text(document, 'document_id')}/original" data-page="${page}" data-passage="${passage.slice(0, passageCharsMax)}" data-script="/console/pdf.js?${version}" data-worker="/console/pdf-worker.js?${version}"></figure>`;
}
