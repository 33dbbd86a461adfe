import { assetsVersion } from '../assets.ts';
import { read } from '../console-tools.ts';
import { type Html, html } from '../html.ts';

/** Max characters of the passage to mark. */
const passageCharsMax = 4_000;

/**
 * A PDF's page as a picture, with a passage marked; undefined for other documents. The script draws it from the original,
 * which only readers of the document get.
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
