import { readdirSync, readFileSync } from 'node:fs';
import { deflateSync } from 'node:zlib';
import { createRandom } from '../statistics.ts';

/** Lines per page and characters per line: 311 such pages have about 110,000 tokens. */
const linesOnPage = 20;
const charactersInLine = 72;

/**
 * Creates a PDF like a manual: numbered headings, running text with words placed one by one, a header and a page number on each
 * page. Its sentences come from our own documentation in random order, so no two pages are the same.
 */
export function createManual(pages: number): { name: string; content: Buffer } {
  const random = createRandom(311);
  const sentences = documentationSentences();
  const objects: string[] = ['<< /Type /Catalog /Pages 2 0 R >>', '', font('Helvetica'), font('Helvetica-Bold')];
  const kids: string[] = [];
  for (let page = 1; page <= pages; page += 1) {
    const content = deflateSync(Buffer.from(drawPage(page, sentences, random), 'latin1'));
    objects.push(
      `<< /Length ${content.length} /Filter /FlateDecode >>\nstream\n${content.toString('latin1')}\nendstream`,
    );
    kids.push(`${objects.length + 1} 0 R`);
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${objects.length} 0 R /Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>`,
    );
  }
  objects[1] = `<< /Type /Pages /Kids [${kids.join(' ')}] /Count ${pages} >>`;
  return { name: 'manual.pdf', content: pdfFile(objects) };
}

function drawPage(page: number, sentences: readonly string[], random: () => number): string {
  const draw = (fontName: string, size: number, x: number, y: number, text: string) =>
    `BT /${fontName} ${size} Tf 1 0 0 1 ${x} ${y} Tm [${formatKerned(text)}] TJ ET\n`;
  const heading = `${Math.ceil(page / 12)}.${(page % 12) + 1} ${pick(sentences, random).split(' ').slice(0, 5).join(' ')}`;
  let content = draw('F1', 8, 72, 750, 'The manual of everything') + draw('F1', 8, 300, 40, String(page));
  content += draw('F2', 14, 72, 715, heading);
  let [line, y] = ['', 690];
  for (let lines = 0; lines < linesOnPage; ) {
    for (const word of pick(sentences, random).split(' ')) {
      if (line.length + word.length < charactersInLine) {
        line += `${line === '' ? '' : ' '}${word}`;
        continue;
      }
      content += draw('F1', 10, 72, y, line);
      lines += 1;
      // A gap between paragraphs.
      y -= lines % 7 === 0 ? 26 : 14;
      line = word;
      if (lines >= linesOnPage) break;
    }
  }
  return content;
}

/** Formats words with the distances between them, as typesetting programs write them. */
function formatKerned(text: string): string {
  return text
    .split(' ')
    .map((word) => `(${word.replace(/[\\()]/g, '\\$&')})`)
    .join(' -278 ');
}

function documentationSentences(): string[] {
  const folder = new URL('../../docs/', import.meta.url);
  const texts = readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => readFileSync(new URL(name, folder), 'utf8'));
  const prose = texts.join('\n\n').replace(/```[\s\S]*?```|^\|.*$|^#.*$|[`*]/gm, '');
  return prose
    .split(/(?<=[.:])\s+|\n\n+/)
    .map((sentence) => sentence.replace(/[^\x20-\x7e]+/g, ' ').trim())
    .filter((sentence) => sentence.length > 30 && sentence.length < 400);
}

function pick(list: readonly string[], random: () => number): string {
  return list[Math.floor(random() * list.length)] ?? '';
}

function font(name: string): string {
  return `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding /WinAnsiEncoding >>`;
}

function pdfFile(objects: readonly string[]): Buffer {
  let body = '%PDF-1.7\n';
  const offsets = objects.map((object, index) => {
    const offset = body.length;
    body += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  const trailer = `trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${body.length}\n%%EOF`;
  return Buffer.from(`${body}xref\n0 ${size}\n0000000000 65535 f \n${rows}${trailer}`, 'latin1');
}
