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

test('DOCX: ignores deleted text, field codes and duplicated content', () => {
  const run = (text: string) => `<w:r><w:t>${text}</w:t></w:r>`;
  const body = `<w:p>${run('kept ')}<w:del><w:r><w:delText>deleted</w:delText></w:r></w:del><w:ins>${run('added')}</w:ins>
    <w:r><w:instrText>PAGE</w:instrText></w:r></w:p>
    <mc:AlternateContent xmlns:mc="m"><mc:Choice>${paragraph('new')}</mc:Choice><mc:Fallback>${paragraph('old')}</mc:Fallback></mc:AlternateContent>`;
  assert.equal(readDocx(docxOf(body), options()).text, 'kept added\n\nnew');
});

test('DOCX: headings come from outline levels and inherited styles', () => {
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

test('DOCX: a nested table stays in its cell, and a spanning cell keeps the others in place', () => {
  const cell = (content: string, more = '') => `<w:tc>${more}${content}</w:tc>`;
  const inner = `<w:tbl><w:tr>${cell(paragraph('in'))}${cell(paragraph('side'))}</w:tr></w:tbl>`;
  const body = `<w:tbl><w:tr>${cell(paragraph('a'), '<w:tcPr><w:gridSpan w:val="2"/></w:tcPr>')}${cell(paragraph('b'))}</w:tr>
    <w:tr>${cell(inner)}${cell(paragraph('c'))}${cell(paragraph('d'))}</w:tr></w:tbl>`;
  assert.equal(readDocx(docxOf(body), options()).text, '| a |  | b |\n| --- | --- | --- |\n| in side | c | d |');
  assert.equal(readDocx(docxOf(body), options('text')).text, 'a |  | b\nin side | c | d');
});

test('DOCX: keeps the text if reading stops inside a table', () => {
  const row = `<w:tr><w:tc>${paragraph('cell')}</w:tc></w:tr>`;
  const { text, truncated } = readDocx(docxOf(`<w:tbl>${row.repeat(5000)}</w:tbl>`), {
    ...options(),
    charsMax: 30_000,
  });
  assert.match(text, /^\| cell \|\n\| --- \|\n\| cell \|/);
  assert.equal(truncated, true);
});

test('XLSX: shows dates, times, percentages and numbers by their format', () => {
  const cell = (style: number, value: string) => `<c s="${style}"><v>${value}</v></c>`;
  const data = `<sheetData><row>${cell(0, '0.30000000000000004')}${cell(1, '46082')}${cell(2, '46082.75')}${cell(3, '0.5')}${cell(4, '0.125')}${cell(5, '1234.5')}${cell(1, '59')}${cell(6, '46082')}${cell(7, '1.5')}</row>
    <row><c t="b"><v>1</v></c><c t="e"><v>#REF!</v></c><c t="str"><v>formula</v></c></row></sheetData>`;
  const styles = `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="[$-409]d\\-mmm\\-yy;@"/><numFmt numFmtId="166" formatCode="[h]:mm:ss"/><numFmt numFmtId="165" formatCode="#,##0.00 &quot;days&quot;"/></numFmts><cellXfs>${[0, 14, 22, 20, 10, 165, 164, 166].map((id) => `<xf numFmtId="${id}"/>`).join('')}</cellXfs></styleSheet>`;
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
    'One\n\n0.3 | 2026-03-01 | 2026-03-01 18:00:00 | 12:00:00 | 12.5% | 1234.5 | 1900-02-28 | 2026-03-01 | 36:00:00\nTRUE | #REF! | formula',
  );
});

test('XLSX: a missing row ends a table', () => {
  const cell = (value: number) => `<c><v>${value}</v></c>`;
  const { text } = readXlsx(
    xlsxOf(`<sheetData><row r="1">${cell(1)}</row><row r="2">${cell(2)}</row><row r="5">${cell(5)}</row></sheetData>`),
    options(),
  );
  assert.equal(text, '# One\n\n| 1 |\n| --- |\n| 2 |\n\n| 5 |\n| --- |');
});

test('PPTX: the title comes first, and repeated slide elements are ignored', () => {
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

test('ODF: spaces, breaks and tabs are text, comments follow it, and deleted text is ignored', () => {
  const body = `<text:tracked-changes><text:p>gone</text:p></text:tracked-changes>
    <text:p>a<text:s text:c="2"/>b<text:tab/>c<text:line-break/>d<office:annotation><text:p>remark</text:p></office:annotation></text:p>`;
  assert.equal(readOdf('odt', odfOf('text', body), options('text')).text, 'a b c\nd\n\nComment: remark');
});

const chart = `<c:chartSpace xmlns:c="c" xmlns:a="a"><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Lamps lit</a:t></a:r></a:p></c:rich></c:tx></c:title>
  <c:plotArea><c:ser><c:tx><c:strRef><c:strCache><c:pt idx="0"><c:v>North</c:v></c:pt></c:strCache></c:strRef></c:tx>
  <c:cat><c:strCache><c:pt idx="0"><c:v>2024</c:v></c:pt><c:pt idx="1"><c:v>2025</c:v></c:pt></c:strCache></c:cat>
  <c:val><c:numCache><c:pt idx="0"><c:v>7.1000000000000005</c:v></c:pt><c:pt idx="1"><c:v>9</c:v></c:pt></c:numCache></c:val></c:ser></c:plotArea></c:chart></c:chartSpace>`;
const diagram = `<dgm:dataModel xmlns:dgm="d" xmlns:a="a"><dgm:pt><dgm:t><a:p><a:r><a:t>Ask</a:t></a:r></a:p></dgm:t></dgm:pt>
  <dgm:pt><dgm:t><a:p><a:r><a:t>Answer</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:dataModel>`;

test('DOCX: reads comments, diagrams, charts and embedded workbooks after the text', () => {
  const comments = `<w:comments xmlns:w="w"><w:comment w:id="0"><w:p><w:r><w:t>Is this </w:t></w:r><w:r><w:t>still so?</w:t></w:r></w:p></w:comment></w:comments>`;
  const bytes = docxOf(paragraph('body'), {
    'word/_rels/document.xml.rels': relations([
      ['r1', 'comments', 'comments.xml'],
      ['r2', 'diagramData', 'diagrams/data1.xml'],
      ['r3', 'chart', 'charts/chart1.xml'],
      ['r4', 'package', 'embeddings/Book.xlsx'],
    ]),
    'word/comments.xml': comments,
    'word/diagrams/data1.xml': diagram,
    'word/charts/chart1.xml': chart,
    'word/embeddings/Book.xlsx': xlsxOf('<row r="1"><c t="inlineStr"><is><t>inner</t></is></c></row>'),
  });
  const { text } = readDocx(bytes, options('text'));
  assert.match(
    text,
    /^body\n\nComment: Is this still so\?\n\nDiagram: Ask; Answer\n\nChart: Lamps lit\n\nNorth: 2024 7.1, 2025 9\n\n/,
  );
  assert.match(text, /Embedded document:\s+.*inner/s);
});

test('DOCX: a numbered list starts where the document says', () => {
  const item = (text: string) =>
    `<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="2"/></w:numPr></w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`;
  const numbering = (
    override: string,
  ) => `<w:numbering xmlns:w="w"><w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:start w:val="4"/><w:numFmt w:val="decimal"/></w:lvl></w:abstractNum>
    <w:num w:numId="2"><w:abstractNumId w:val="1"/>${override}</w:num></w:numbering>`;
  const read = (override: string) =>
    readDocx(
      docxOf(item('one') + item('two'), {
        'word/_rels/document.xml.rels': relations([['r1', 'numbering', 'numbering.xml']]),
        'word/numbering.xml': numbering(override),
      }),
      options(),
    ).text;
  assert.equal(read(''), '4. one\n5. two');
  assert.equal(read('<w:lvlOverride w:ilvl="0"><w:startOverride w:val="9"/></w:lvlOverride>'), '9. one\n10. two');
});

test('XLSX: stops at a drawing that refers to itself', () => {
  const { text } = readXlsx(
    xlsxOf('<sheetData><row r="1"><c t="inlineStr"><is><t>cell</t></is></c></row></sheetData>', {
      'xl/worksheets/_rels/sheet1.xml.rels': relations([['r1', 'drawing', '../drawings/drawing1.xml']]),
      'xl/drawings/drawing1.xml':
        '<xdr:wsDr xmlns:xdr="x" xmlns:a="a"><a:p><a:r><a:t>boxed</a:t></a:r></a:p></xdr:wsDr>',
      'xl/drawings/_rels/drawing1.xml.rels': relations([['r1', 'drawing', 'drawing1.xml']]),
    }),
    options('text'),
  );
  assert.equal(text, 'One\n\ncell\n\nText box: boxed');
});

test('DOCX, PPTX: reads image descriptions, not file names', () => {
  const picture = (description: string) =>
    `<w:p><w:r><w:drawing><wp:docPr descr="${description}"/></w:drawing></w:r></w:p>`;
  assert.equal(
    readDocx(docxOf(picture('A lamp at dawn') + picture('lamp.png') + picture('C:\\My files\\lamp.png')), options())
      .text,
    '\\[A lamp at dawn\\]',
  );
  const slide = `<p:sp><p:nvPr><p:ph type="title"/></p:nvPr><p:txBody><a:p><a:r><a:t>Lamps</a:t></a:r></a:p></p:txBody></p:sp>
    <p:pic><p:nvPicPr><p:cNvPr descr="A lamp at dawn"/></p:nvPicPr></p:pic>`;
  assert.equal(readPptx(pptxOf(1, slide), options()).text, '# Lamps\n\n\\[A lamp at dawn\\]');
});
