import { CarrelError } from '../../base/errors.ts';
import { oneLine } from '../../base/text.ts';
import type { Mark, Reading, ReadOptions } from '../document.ts';
import { meanOf } from '../ocr/read-image.ts';
import { loadRecogniser, type RecognisedText } from '../ocr/recogniser.ts';
import { cpuMs } from '../reader-limits.ts';
import { collapseLines } from '../text/clean-text.ts';
import { composeAccents } from '../text/compose-accents.ts';
import { openPdf, type PdfDocument, type PdfPage } from './pdf-js.ts';
import { pdfPictures } from './pdf-pictures.ts';

/** A distance between baselines of more than this many line heights starts a paragraph. */
const paragraphGap = 1.6;

/** Reads the text of a PDF. After `charsMax` characters or at CPU time `stopAt`, stops at the end of the current page. */
export async function readPdfText(
  bytes: Uint8Array,
  { charsMax, stopAt }: Pick<ReadOptions, 'charsMax' | 'stopAt'>,
  ocrLanguages: readonly string[] = [],
): Promise<Reading> {
  const pdf = await openPdf(bytes);
  const pages: string[] = [];
  const marks: Mark[] = [];
  const ocr = createOcr(ocrLanguages, stopAt);
  const properties = await readProperties(pdf);
  let length = 0;
  let number = 1;
  for (; number <= pdf.numPages && length <= charsMax; number += 1) {
    // Always reads the first page. Otherwise a file that is slow to open would look empty.
    if (number > 1 && cpuMs() >= stopAt) break;
    const page = await pdf.getPage(number);
    const content = (await pageText(page, properties.isTex)) || (await ocr.textOf(page));
    const text = [content, await annotationsOf(page)].filter((part) => part !== '').join('\n\n');
    page.cleanup();
    if (text === '') continue;
    marks.push({ offset: length, page: number });
    pages.push(text);
    length += text.length + 2;
  }
  if (pages.length === 0 && number <= pdf.numPages) {
    const message =
      'No text was found in this PDF within the CPU time limit. In the knowledge base, raise KB_EXTRACT_CPU_MS.';
    throw new CarrelError('extraction_timeout', message);
  }
  if (pages.length === 0 && ocr.error() !== undefined) throw ocr.error();
  const { confidences } = ocr;
  const { isTex: _, ...description } = properties;
  return {
    ...description,
    text: pages.join('\n\n'),
    marks,
    pages: pdf.numPages,
    ...(confidences.length === 0 ? {} : { recognised: { pages: confidences.length, confidence: meanOf(confidences) } }),
    truncated: number <= pdf.numPages && { read: number - 1, of: pdf.numPages, unit: 'pages' },
  };
}

async function pageText(page: PdfPage, isTex: boolean): Promise<string> {
  const { items } = await page.getTextContent();
  const parts: string[] = [];
  let lastY: number | null = null;
  let lastHeight = 0;
  for (const item of items) {
    if (!('str' in item)) continue;
    const y = Number(item.transform[5]);
    const height = item.height || lastHeight;
    const distance = lastY === null ? 0 : Math.abs(lastY - y);
    if (parts.length > 0 && distance > Math.max(height, lastHeight) * paragraphGap && distance > 1) parts.push('\n\n');
    parts.push(item.str);
    if (item.hasEOL) parts.push('\n');
    if (item.str.trim() !== '') {
      lastY = y;
      lastHeight = height;
    }
  }
  const text = parts.join('');
  // Only in TeX: elsewhere, an accent between two letters is an apostrophe.
  return collapseLines(isTex ? composeAccents(text) : text);
}

/** Creates OCR for pages without other text. */
function createOcr(languages: readonly string[], stopAt: number) {
  const confidences: number[] = [];
  let ocrError: unknown;
  return {
    confidences,
    /** The error of loading OCR, if a page needed it. */
    error: () => ocrError,
    async textOf(page: PdfPage): Promise<string> {
      if (languages.length === 0 || ocrError !== undefined) return '';
      const results: RecognisedText[] = [];
      for await (const picture of pdfPictures(page)) {
        const recogniser = await loadRecogniser(languages).catch((error: unknown) => {
          // Not thrown: pages that don't need OCR are still read.
          ocrError = error;
        });
        if (recogniser === undefined || (results.length > 0 && cpuMs() >= stopAt)) break;
        const text = recogniser.recognise(picture);
        if (text !== undefined) results.push(text);
      }
      const text = collapseLines(results.map((each) => each.text).join('\n'));
      if (text !== '') confidences.push(meanOf(results.map(({ confidence }) => confidence)));
      return text;
    },
  };
}

/** Reads form fields with their values, and comments of readers. */
async function annotationsOf(page: PdfPage): Promise<string> {
  const annotations: unknown[] = await page.getAnnotations().catch(() => []);
  const lines = annotations.slice(0, annotationsMax).flatMap((annotation) => {
    const { subtype, fieldValue, fieldName, alternativeText, contentsObj } = annotation as Annotation;
    if (subtype === 'Widget') {
      const value = [fieldValue]
        .flat()
        .filter((part) => typeof part === 'string' && part.trim() !== '' && part !== 'Off');
      const label = oneLineOf(alternativeText) || oneLineOf(fieldName);
      return value.length === 0 ? [] : [`${label === '' ? '' : `${label}: `}${value.join(', ')}`];
    }
    const comment = oneLineOf(contentsObj?.str);
    return comment === '' || subtype === 'Link' ? [] : [`Comment: ${comment}`];
  });
  return lines.join('\n').slice(0, annotationUnitsMax);
}

/** The fields that we use of pdf.js's annotations. Any of them may be missing or of another type. */
interface Annotation {
  subtype?: unknown;
  fieldValue?: unknown;
  fieldName?: unknown;
  alternativeText?: unknown;
  contentsObj?: { str?: unknown };
}

const annotationsMax = 2000;
const annotationUnitsMax = 100_000;

function oneLineOf(value: unknown): string {
  return typeof value === 'string' ? oneLine(value) : '';
}

async function readProperties(
  pdf: PdfDocument,
): Promise<Pick<Reading, 'title' | 'byline' | 'published'> & { isTex: boolean }> {
  const { info } = await pdf.getMetadata().catch(() => ({ info: {} }));
  const fields = info as Record<string, unknown>;
  const field = (name: string) => (typeof fields[name] === 'string' ? fields[name] : null);
  return {
    title: cleanTitle(field('Title')),
    byline: field('Author'),
    published: pdfDate(field('CreationDate')),
    isTex: /TeX|dvips|dvipdf/i.test(`${field('Producer')} ${field('Creator')}`),
  };
}

/** Cleans the title. Null if it is a placeholder of a program, or hexadecimal bytes. */
function cleanTitle(title: string | null): string | null {
  const cleaned = title?.trim().replace(/^Microsoft (?:Word|PowerPoint|Excel) - /, '') ?? '';
  return cleaned === '' ||
    /^(?:untitled(?:[ -]?\d*)?|(?:document|dokument)\d*|<[\da-f]{8,}>|no ?title|\(anonymous\)|title)$/i.test(cleaned)
    ? null
    : cleaned;
}

/** Converts a date from `D:20261115…` (ISO 32000-1, 7.9.4) to `2026-11-15`. */
function pdfDate(value: string | null): string | null {
  const [, year, month = '01', day = '01'] = /^D:(\d{4})(\d{2})?(\d{2})?/.exec(value ?? '') ?? [];
  return year === undefined ? null : `${year}-${month}-${day}`;
}
