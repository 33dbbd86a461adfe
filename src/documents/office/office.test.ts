import assert from 'node:assert/strict';
import { test } from 'node:test';
import { docxOf, odfOf, paragraph, pptxOf, relations, xlsxOf } from '../../../test/security/parsers/office-samples.ts';
import type { ExtractMode } from '../document.ts';
import { readDocx } from './docx.ts';
import { readOdf } from './odf.ts';
import { readPptx } from './pptx.ts';
import { readXlsx } from './xlsx.ts';

function options(mode: ExtractMode = 'markdown') {
  return { mode, charsMax: 100_000, stopAt: Number.POSITIVE_INFINITY };
}

test('DOCX: what was deleted, field codes and doubled content are not text', () => {
  const run = (text: string) => `<w:r><w:t>${text}</w:t></w:r>`;
  const body = `<w:p>${run('kept ')}<w:del><w:r><w:delText>deleted</w:delText></w:r></w:del><w:ins>${run('added')}</w:ins>
    <w:r><w:instrText>PAGE</w:instrText></w:r></w:p>
    <mc:AlternateContent xmlns:mc="m"><mc:Choice>${paragraph('new')}</mc:Choice><mc:Fallback>${paragraph('old')}</mc:Fallback></mc:AlternateContent>`;
  assert.equal(readDocx(docxOf(body), options()).text, 'kept added\n\nnew');
});

test('DOCX: headings come from outline levels and from styles that rest on others', () => {
  const styled = (style: string, text: string) =>
    `<w:p><w:pPr><w:pStyle w:val="${style}"/></w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`;
  const { text, title } = readDocx(
    docxOf(
      `${styled('T', 'Book')}${styled('Mine', 'Part')}<w:p><w:pPr><w:outlineLvl w:val="2"/></w:pPr><w:r><w:t>Own</w:t></w:r></w:p>`,
      {
        'word/_rels/document.xml.rels': relations([['r1', 'styles', 'styles.xml']]),
        'word/styles.xml': `<w:styles xmlns:w="w"><w:style w:styleId="T"><w:name w:val="Title"/></w:style>
        <w:style w:styleId="H2"><w:name w:val="heading 2"/></w:style>
        <w:style w:styleId="Mine"><w:name w:val="Mine"/><w:basedOn w:val="H2"/></w:style></w:styles>`,
      },
    ),
    options(),
  );
  assert.equal(text, '# Book\n\n## Part\n\n### Own');
  assert.equal(title, 'Book');
});

test('DOCX: a table in a table stays in its cell, and a cell over two columns keeps the others in place', () => {
  const cell = (content: string, more = '') => `<w:tc>${more}${content}</w:tc>`;
  const inner = `<w:tbl><w:tr>${cell(paragraph('in'))}${cell(paragraph('side'))}</w:tr></w:tbl>`;
  const body = `<w:tbl><w:tr>${cell(paragraph('a'), '<w:tcPr><w:gridSpan w:val="2"/></w:tcPr>')}${cell(paragraph('b'))}</w:tr>
    <w:tr>${cell(inner)}${cell(paragraph('c'))}${cell(paragraph('d'))}</w:tr></w:tbl>`;
  assert.equal(readDocx(docxOf(body), options()).text, '| a |  | b |\n| --- | --- | --- |\n| in side | c | d |');
  assert.equal(readDocx(docxOf(body), options('text')).text, 'a |  | b\nin side | c | d');
});

test('DOCX: text that stops in the middle of a table is kept', () => {
  const row = `<w:tr><w:tc>${paragraph('cell')}</w:tc></w:tr>`;
  const { text, truncated } = readDocx(docxOf(`<w:tbl>${row.repeat(5000)}</w:tbl>`), {
    ...options(),
    charsMax: 30_000,
  });
  assert.match(text, /^\| cell \|\n\| --- \|\n\| cell \|/);
  assert.equal(truncated, true);
});

test('XLSX: numbers are shown as dates, times, percentages or numbers, by their format', () => {
  const cell = (style: number, value: string) => `<c s="${style}"><v>${value}</v></c>`;
  const data = `<sheetData><row>${cell(0, '0.30000000000000004')}${cell(1, '46082')}${cell(2, '46082.75')}${cell(3, '0.5')}${cell(4, '0.125')}${cell(5, '1234.5')}${cell(1, '59')}${cell(6, '46082')}</row>
    <row><c t="b"><v>1</v></c><c t="e"><v>#REF!</v></c><c t="str"><v>formula</v></c></row></sheetData>`;
  const styles = `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="[$-409]d\\-mmm\\-yy;@"/><numFmt numFmtId="165" formatCode="#,##0.00 &quot;days&quot;"/></numFmts><cellXfs>${[0, 14, 22, 20, 10, 165, 164].map((id) => `<xf numFmtId="${id}"/>`).join('')}</cellXfs></styleSheet>`;
  const { text } = readXlsx(
    xlsxOf(data, {
      'xl/_rels/workbook.xml.rels': relations([
        ['r1', 'worksheet', 'worksheets/sheet1.xml'],
        ['r3', 'styles', 'styles.xml'],
      ]),
      'xl/styles.xml': styles,
    }),
    options('text'),
  );
  assert.equal(
    text,
    'One\n\n0.3 | 2026-03-01 | 2026-03-01 18:00:00 | 12:00:00 | 12.5% | 1234.5 | 1900-02-28 | 2026-03-01\nTRUE | #REF! | formula',
  );
});

test('XLSX: a row that was left out ends a table', () => {
  const cell = (value: number) => `<c><v>${value}</v></c>`;
  const { text } = readXlsx(
    xlsxOf(`<sheetData><row r="1">${cell(1)}</row><row r="2">${cell(2)}</row><row r="5">${cell(5)}</row></sheetData>`),
    options(),
  );
  assert.equal(text, '# One\n\n| 1 |\n| --- |\n| 2 |\n\n| 5 |\n| --- |');
});

test('PPTX: the title goes first, wherever it stands, and the furniture of slides is left out', () => {
  const shape = (type: string, text: string) =>
    `<p:sp><p:nvPr><p:ph${type === '' ? '' : ` type="${type}"`}/></p:nvPr><p:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:txBody></p:sp>`;
  const slide = shape('body', 'point') + shape('sldNum', '7') + shape('title', 'Title');
  const { text, marks, pages } = readPptx(pptxOf(2, slide), options());
  assert.equal(text, '# Title\n\n- point\n\n# Title\n\n- point');
  assert.deepEqual(
    [marks, pages],
    [
      [
        { offset: 0, page: 1 },
        { offset: 18, page: 2 },
      ],
      2,
    ],
  );
  assert.match(readPptx(pptxOf(1, shape('', 'alone')), options()).text, /^# Slide 1\n\n- alone$/);
});

test('ODF: blanks, breaks and tabs are text; remarks and what was deleted are not', () => {
  const body = `<text:tracked-changes><text:p>gone</text:p></text:tracked-changes>
    <text:p>a<text:s text:c="2"/>b<text:tab/>c<text:line-break/>d<office:annotation><text:p>remark</text:p></office:annotation></text:p>`;
  assert.equal(readOdf('odt', odfOf('text', body), options('text')).text, 'a b c\nd');
});
