import { zipOf } from './raw-zip.ts';

/** The minimum of each office format, around parts from a test. */

const relationships = 'http://schemas.openxmlformats.org/package/2006/relationships';
const types = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

export function docxOf(body: string, parts: Record<string, string | Uint8Array> = {}, doctype = ''): Buffer {
  const document = `<?xml version="1.0"?>${doctype}<w:document xmlns:w="w"><w:body>${body}</w:body></w:document>`;
  return ooxml('wordprocessingml.document', 'word/document.xml', { 'word/document.xml': document, ...parts });
}

export function paragraph(text: string): string {
  return `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;
}

export function xlsxOf(sheetData: string, parts: Record<string, string> = {}): Buffer {
  return ooxml('spreadsheetml.sheet', 'xl/workbook.xml', {
    'xl/workbook.xml': '<workbook xmlns:r="r"><sheets><sheet name="One" sheetId="1" r:id="r1"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels': relations([
      ['r1', 'worksheet', 'worksheets/sheet1.xml'],
      ['r2', 'sharedStrings', 'sharedStrings.xml'],
    ]),
    'xl/worksheets/sheet1.xml': `<worksheet>${sheetData}</worksheet>`,
    ...parts,
  });
}

export function pptxOf(slides: number, slide: string): Buffer {
  const ids = Array.from({ length: slides }, (_, index) => `<p:sldId id="${256 + index}" r:id="r1"/>`).join('');
  return ooxml('presentationml.presentation', 'ppt/presentation.xml', {
    'ppt/presentation.xml': `<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst>${ids}</p:sldIdLst></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': relations([['r1', 'slide', 'slides/slide1.xml']]),
    'ppt/slides/slide1.xml': `<p:sld xmlns:p="p" xmlns:a="a">${slide}</p:sld>`,
  });
}

export function odfOf(kind: 'text' | 'spreadsheet' | 'presentation', body: string): Buffer {
  return zipOf({
    mimetype: `application/vnd.oasis.opendocument.${kind}`,
    'content.xml': `<office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="b" xmlns:draw="d"><office:body>${body}</office:body></office:document-content>`,
  });
}

export function epubOf(manifest: string, spine: string, parts: Record<string, string>, path = 'OPS/book.opf'): Buffer {
  return zipOf({
    mimetype: 'application/epub+zip',
    'META-INF/container.xml': `<container><rootfiles><rootfile full-path="${path}"/></rootfiles></container>`,
    'OPS/book.opf': `<package><metadata/><manifest>${manifest}</manifest>${spine}</package>`,
    ...parts,
  });
}

export function relations(list: readonly (readonly [string, string, string])[]): string {
  const items = list.map(
    ([id, type, target]) => `<Relationship Id="${id}" Type="${types}/${type}" Target="${target}"/>`,
  );
  return `<Relationships xmlns="${relationships}">${items.join('')}</Relationships>`;
}

function ooxml(type: string, main: string, parts: Record<string, string | Uint8Array>): Buffer {
  return zipOf({
    '[Content_Types].xml': `<Types><Override PartName="/${main}" ContentType="application/vnd.openxmlformats-officedocument.${type}.main+xml"/></Types>`,
    '_rels/.rels': relations([['r0', 'officeDocument', main]]),
    ...parts,
  });
}
