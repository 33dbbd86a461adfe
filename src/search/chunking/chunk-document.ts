import type { DocumentKind, ExtractedDocument } from '../../documents/document.ts';
import { type Chunk, chunkUnitsMax } from './chunk.ts';
import { chunkCode } from './chunk-code.ts';
import { chunkRows } from './chunk-rows.ts';
import { chunkText } from './chunk-text.ts';

/**
 * Chunks code and data by structure, CSV by rows, and the rest by headings and sentences. Each archive member is chunked by
 * its own kind.
 */
export function chunkDocument(
  document: Pick<ExtractedDocument, 'text' | 'kind' | 'codeLanguage' | 'members'>,
  unitsMax = chunkUnitsMax,
): Chunk[] {
  const { text, kind, codeLanguage, members = [] } = document;
  const [first] = members;
  if (!first) return chunkAs(kind, text, codeLanguage, unitsMax);
  const chunks = chunkAs(kind, text.slice(0, first.headingStart), codeLanguage, unitsMax);
  for (const member of members) {
    const memberText = text.slice(member.start, member.end);
    for (const chunk of chunkAs(member.kind, memberText, member.codeLanguage, unitsMax)) {
      const { start, end, titlePath } = chunk;
      chunks.push({
        ...chunk,
        start: start + member.start,
        end: end + member.start,
        titlePath: [member.name, ...titlePath],
      });
    }
  }
  return chunks;
}

function chunkAs(kind: DocumentKind, text: string, language: string | undefined, unitsMax: number): Chunk[] {
  switch (kind) {
    case 'code':
      return chunkCode(text, language, unitsMax);
    case 'json':
    case 'yaml':
    case 'xml':
      return chunkCode(text, kind, unitsMax);
    case 'csv':
      return chunkRows(text, unitsMax);
    default:
      return chunkText(text, unitsMax);
  }
}
