/** Office documents, archives and mails that cost far more to read than their size suggests, or lie about themselves. */
import { size } from '../../support/sizes.ts';
import { docxOf, epubOf, odfOf, paragraph, pptxOf, relations, xlsxOf } from './office-samples.ts';
import { rawZip, zipOf } from './raw-zip.ts';

export interface FormatBomb {
  name: string;
  bytes: () => Uint8Array;
  /** The expected outcome: an error code, or words of the text. */
  ends: { code: string } | { text: RegExp };
}

const mb = 1024 * 1024;
/** Multiplier for the length of long lists. */
export const times = size({ quick: 0.1, full: 4 });
const tooComplex = { code: 'extraction_too_complex' };
const failed = { code: 'extraction_failed' };

export const zipBombs: FormatBomb[] = [
  bomb('a member that unpacks to 16 MB of nothing', () => zipOf({ 'a.txt': Buffer.alloc(16 * mb) }), {
    code: 'no_text_in_document',
  }),
  bomb('a document that unpacks to 16 MB of blanks', () => docxOf(' '.repeat(16 * mb)), tooComplex),
  bomb(
    'dozens of members of 1 MB each',
    () =>
      zipOf(
        Object.fromEntries(
          Array.from({ length: times * 120 }, (_, index) => [`${index}.txt`, 'words '.repeat(180_000)]),
        ),
      ),
    { text: /words words/ },
  ),
  bomb(
    '5,001 members',
    () => rawZip(Array.from({ length: 5001 }, (_, index) => ({ name: `${index}.txt`, data: Buffer.from('x') }))),
    tooComplex,
  ),
  bomb(
    '2,000 members that share the bytes of one',
    () =>
      rawZip([
        { name: 'a.txt', data: Buffer.alloc(1000, 'x') },
        ...Array.from({ length: 2000 }, (_, index) => ({
          name: `${index}.txt`,
          data: Buffer.alloc(1000, 'x'),
          packed: Buffer.alloc(0),
          sharesWith: 0,
        })),
      ]),
    tooComplex,
  ),
  bomb(
    'a member that says it has 10 bytes and has 16 MB',
    () => rawZip([{ name: 'a.txt', data: Buffer.alloc(16 * mb, 'x'), declaredBytes: 10 }]),
    { code: 'no_text_in_document' },
  ),
  bomb(
    'a member that says it has 4 GB and has 5 bytes',
    () => rawZip([{ name: 'a.txt', data: Buffer.from('words'), declaredBytes: 0xfffffffe }]),
    { text: /words/ },
  ),
  bomb(
    'a member with other bytes than its checksum',
    () => rawZip([{ name: 'a.txt', data: Buffer.from('words'), packed: Buffer.from('wordz'), method: 0 }]),
    { code: 'no_text_in_document' },
  ),
  bomb(
    'a member packed by an unknown method',
    () => rawZip([{ name: 'a.txt', data: Buffer.from('words'), method: 14 }]),
    { code: 'no_text_in_document' },
  ),
  bomb(
    'an archive in an archive in an archive',
    () => zipOf({ 'b.zip': zipOf({ 'a.zip': zipOf({ 'x.txt': 'x' }) }) }),
    {
      code: 'no_text_in_document',
    },
  ),
  bomb('an empty archive', () => rawZip([]), { code: 'no_text_in_document' }),
  bomb(
    'names that are paths out of here',
    () => zipOf({ '../../../../etc/passwd': 'one', '/etc/shadow.txt': 'two', 'C:\\x\\..\\y.txt': 'three' }),
    { text: /# \.\.\/\.\.\/\.\.\/\.\.\/etc\/passwd\n\none[\s\S]*two[\s\S]*three/ },
  ),
  bomb('a name with line breaks', () => zipOf({ 'a\n# b\u202e.txt': 'words' }), { text: /^# a # b\.txt\n\nwords/ }),
];

const laughs = `<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "${'&a;'.repeat(10)}"><!ENTITY c "${'&b;'.repeat(10)}">]>`;

export const officeBombs: FormatBomb[] = [
  bomb('DOCX: entities', () => docxOf(paragraph('&c;'), {}, laughs), failed),
  bomb(
    'DOCX: an external entity',
    () => docxOf(paragraph('&x;'), {}, '<!DOCTYPE x [<!ENTITY x SYSTEM "file:///etc/passwd">]>'),
    failed,
  ),
  bomb('DOCX: entities that nobody uses', () => docxOf(paragraph('plain'), {}, laughs), { text: /^plain$/ }),
  bomb('DOCX: nested 100,000 deep', () => docxOf('<w:p>'.repeat(100_000)), tooComplex),
  bomb('DOCX: tables in tables', () => docxOf('<w:tbl><w:tr><w:tc>'.repeat(200)), tooComplex),
  bomb('DOCX: never closed', () => docxOf('<w:p><w:r><w:t>x'), failed),
  bomb('DOCX: paragraphs by the ten thousand', () => docxOf(paragraph('words').repeat(times * 100_000)), {
    text: /^words\n\nwords/,
  }),
  bomb(
    'DOCX: a cell that spans a million columns',
    () =>
      docxOf(
        `<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="1000000"/></w:tcPr>${paragraph('x')}</w:tc></w:tr></w:tbl>`,
      ),
    { text: /x/ },
  ),
  bomb(
    'DOCX: cells by the ten thousand',
    () =>
      docxOf(`<w:tbl>${`<w:tr>${`<w:tc>${paragraph('x')}</w:tc>`.repeat(30)}</w:tr>`.repeat(times * 3000)}</w:tbl>`),
    { text: /x/ },
  ),
  bomb(
    'DOCX: styles that rest on themselves',
    () =>
      docxOf(`<w:p><w:pPr><w:pStyle w:val="a"/></w:pPr><w:r><w:t>round</w:t></w:r></w:p>`, {
        'word/_rels/document.xml.rels': relations([['r1', 'styles', 'styles.xml']]),
        'word/styles.xml':
          '<w:styles xmlns:w="w"><w:style w:styleId="a"><w:basedOn w:val="b"/></w:style><w:style w:styleId="b"><w:basedOn w:val="a"/></w:style></w:styles>',
      }),
    { text: /^round$/ },
  ),
  bomb(
    'DOCX: a main part outside of the package',
    () =>
      zipOf({
        '[Content_Types].xml':
          '<Types><Override ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
        '_rels/.rels': relations([['r', 'officeDocument', '../../../../etc/passwd']]),
      }),
    failed,
  ),
  bomb('DOCX: no text at all', () => docxOf(''), { code: 'no_text_in_document' }),
  bomb(
    'PPTX: one slide thousands of times',
    () => pptxOf(times * 1250, `<p:sp><a:p><a:r><a:t>${'words '.repeat(100)}</a:t></a:r></a:p></p:sp>`),
    { text: /words/ },
  ),
  bomb(
    'XLSX: a dimension of all that there is',
    () =>
      xlsxOf(
        '<dimension ref="A1:XFD1048576"/><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>one</t></is></c></row></sheetData>',
      ),
    { text: /\| one \|/ },
  ),
  bomb(
    'XLSX: a cell in the last row and column',
    () =>
      xlsxOf(
        '<sheetData><row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c><c r="B1048576"><v>3</v></c></row></sheetData>',
      ),
    { text: /\| 1 \|[\s\S]*\| {2}\| 3 \|/ },
  ),
  bomb(
    'XLSX: empty rows by the ten thousand',
    () => xlsxOf(`<sheetData>${emptyRows()}<row><c><v>9</v></c></row></sheetData>`),
    {
      text: /\| 9 \|/,
    },
  ),
  bomb(
    'XLSX: 200,000 cells that point at one text of 1 MB',
    () =>
      xlsxOf(`<sheetData>${`<row>${'<c t="s"><v>0</v></c>'.repeat(1000)}</row>`.repeat(200)}</sheetData>`, {
        'xl/sharedStrings.xml': `<sst><si><t>${'word '.repeat(200_000)}</t></si></sst>`,
      }),
    { text: /word word/ },
  ),
  bomb(
    'XLSX: three million shared texts',
    () => xlsxOf('<sheetData/>', { 'xl/sharedStrings.xml': `<sst>${'<si/>'.repeat(3_000_000)}</sst>` }),
    tooComplex,
  ),
  bomb(
    'XLSX: numbers of shared texts that are not there',
    () => xlsxOf('<sheetData><row><c t="s"><v>-1</v></c><c t="s"><v>1e99</v></c><c><v>1e309</v></c></row></sheetData>'),
    { text: /1e309/ },
  ),
  bomb('ODT: nested 100,000 deep', () => odfOf('text', '<text:list><text:list-item>'.repeat(50_000)), tooComplex),
  bomb('ODT: a million blanks in one mark', () => odfOf('text', '<text:p>a<text:s text:c="1000000000"/>b</text:p>'), {
    text: /^a b$/,
  }),
  bomb(
    'ODS: a row and a cell that repeat a million times',
    () =>
      odfOf(
        'spreadsheet',
        '<table:table table:name="T"><table:table-row table:number-rows-repeated="1048576"><table:table-cell table:number-columns-repeated="1048576"><text:p>x</text:p></table:table-cell></table:table-row></table:table>',
      ),
    { text: /\| x \| x \|/ },
  ),
  bomb(
    'EPUB: no spine',
    () =>
      epubOf('<item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>', '', { 'OPS/a.xhtml': '<p>chapter' }),
    { text: /^chapter$/ },
  ),
  bomb('EPUB: no chapters', () => epubOf('', '', {}), { code: 'no_text_in_document' }),
  bomb('EPUB: a package that is not there', () => epubOf('', '', {}, '../../etc/passwd'), failed),
  bomb(
    'EPUB: a chapter outside of the book',
    () =>
      epubOf(
        '<item id="a" href="../../../etc/passwd" media-type="text/html"/>',
        '<spine><itemref idref="a"/></spine>',
        {},
      ),
    { code: 'no_text_in_document' },
  ),
  bomb(
    'EPUB: one chapter 50,000 times',
    () =>
      epubOf(
        '<item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>',
        `<spine>${'<itemref idref="a"/>'.repeat(50_000)}</spine>`,
        { 'OPS/a.xhtml': `<p>${'chapter '.repeat(1000)}` },
      ),
    { text: /^chapter/ },
  ),
];

export const textBombs: FormatBomb[] = [
  text('RTF: nested a million deep', () => `{\\rtf1 ${'{'.repeat(1_000_000)}`, tooComplex),
  text('RTF: closing braces by the hundred thousand', () => `{\\rtf1 words${'}'.repeat(times * 4_000_000)}`, {
    text: /^words$/,
  }),
  text('RTF: binary data without end', () => '{\\rtf1 words\\bin4000000000 xyz}', { text: /^words$/ }),
  text('RTF: control words by the hundred thousand', () => `{\\rtf1 words${'\\b\\i0'.repeat(times * 1_000_000)}}`, {
    text: /^words$/,
  }),
  text(
    'RTF: bytes of a code page by the hundred thousand',
    () => `{\\rtf1\\ansicpg932 ${"\\'82".repeat(times * 2_000_000)}}`,
    {
      text: /./,
    },
  ),
  text('RTF: cells by the ten thousand', () => `{\\rtf1 ${'\\trowd\\intbl x\\cell\\row'.repeat(times * 50_000)}}`, {
    text: /x/,
  }),
  text('mail: parts nested 5,000 deep', () => nestedMail(5000), tooComplex),
  text(
    'mail: empty parts by the hundred thousand',
    () => `${mailHead}Content-Type: multipart/mixed; boundary=o\r\n\r\n${'--o\r\n\r\n'.repeat(300_000)}--o--\r\n`,
    tooComplex,
  ),
  text(
    'mail: parts by the thousand',
    () =>
      `${mailHead}Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\nContent-Type: text/plain\r\n\r\nx\r\n'.repeat(times * 12_500)}--b--`,
    { text: /x/ },
  ),
  text(
    'mail: megabytes of base64',
    () => `${mailHead}Content-Transfer-Encoding: base64\r\n\r\n${'QUFB'.repeat(times * 3_000_000)}`,
    { text: /AAAA/ },
  ),
  text('mail: headers of 3 MB', () => `${mailHead}X-Long: ${'a'.repeat(3_000_000)}\r\n\r\nwords`, tooComplex),
  text(
    'notebook: outputs of 8 MB',
    () =>
      JSON.stringify({
        nbformat: 4,
        cells: [{ cell_type: 'code', source: 'x', outputs: [{ text: 'out '.repeat(2_000_000) }] }],
      }),
    { text: /^```\nx\n```/ },
  ),
  text('notebook: nested a million deep', () => `{"nbformat":4,"cells":[${'['.repeat(1_000_000)}`, failed),
  text(
    'notebook: cells of every wrong type',
    () =>
      '{"nbformat":4,"cells":[null,1,"x",[],{"cell_type":3,"source":{}},{"cell_type":"code","source":["a",1],"outputs":7}]}',
    { text: /^```\na\n```$/ },
  ),
];

/** Rows that were formatted and never filled, as programs write them. */
function emptyRows(): string {
  return Array.from(
    { length: times * 100_000 },
    (_, row) => `<row r="${row + 1}"><c r="A${row + 1}" s="1"/></row>`,
  ).join('');
}

const mailHead = 'From: a@b.example\r\nTo: c@d.example\r\nMIME-Version: 1.0\r\nSubject: words\r\n';

function nestedMail(depth: number): string {
  const heads = Array.from(
    { length: depth },
    (_, level) => `Content-Type: multipart/mixed; boundary=b${level}\r\n\r\n--b${level}\r\n`,
  );
  return `${mailHead}${heads.join('')}Content-Type: text/plain\r\n\r\nx`;
}

function bomb(name: string, bytes: () => Uint8Array, ends: FormatBomb['ends']): FormatBomb {
  return { name, bytes, ends };
}

function text(name: string, make: () => string, ends: FormatBomb['ends']): FormatBomb {
  return bomb(name, () => Buffer.from(make(), 'latin1'), ends);
}
