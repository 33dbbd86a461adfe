import { CarrelError } from '../../base/errors.ts';
import type { Mark, Reading, ReadOptions } from '../document.ts';
import { cpuMs } from '../reader-limits.ts';
import { collapseLines } from '../text/clean-text.ts';
import { loadRecogniser } from './recogniser.ts';

/** Reads the text in an image with OCR. A TIFF may have several pages. */
export async function readImage(
  bytes: Uint8Array,
  languages: readonly string[],
  { stopAt, charsMax }: Pick<ReadOptions, 'stopAt' | 'charsMax'>,
): Promise<Reading> {
  const recogniser = await loadRecogniser(languages);
  const pages = tiffPages(bytes);
  const pageCount = pages?.count ?? 1;
  const texts: string[] = [];
  const marks: Mark[] = [];
  const confidences: number[] = [];
  let length = 0;
  let read = 0;
  for (let page = 0; page < pageCount; page += 1) {
    if (read > 0 && (cpuMs() >= stopAt || length > charsMax)) break;
    const result = recogniser.recognise(pages?.withPageFirst(page) ?? bytes);
    read += 1;
    if (result === undefined) continue;
    const text = collapseLines(result.text);
    if (text === '') continue;
    if (pageCount > 1) marks.push({ offset: length, page: read });
    texts.push(text);
    confidences.push(result.confidence);
    length += text.length + 2;
  }
  if (confidences.length === 0) {
    throw new CarrelError(
      'no_text_in_document',
      'No text was found in this image. Try a sharper one, or set KB_OCR_LANGUAGES to the language of its text.',
    );
  }
  return {
    title: null,
    text: texts.join('\n\n'),
    marks,
    pages: pageCount,
    recognised: { pages: confidences.length, confidence: meanOf(confidences) },
    truncated: read < pageCount && { read, of: pageCount, unit: 'pages' },
  };
}

export function meanOf(confidences: readonly number[]): number {
  return Math.round(confidences.reduce((sum, each) => sum + each, 0) / confidences.length);
}

const pagesMax = 2000;

/** Finds the pages of a TIFF file (revision 6.0). Undefined for other formats, and for a single page. */
export function tiffPages(bytes: Uint8Array) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.byteLength < 8) return undefined;
  const order = view.getUint16(0);
  if (order !== 0x4949 && order !== 0x4d4d) return undefined;
  const isLittleEndian = order === 0x4949;
  if (view.getUint16(2, isLittleEndian) !== 42) return undefined;
  const offsets: number[] = [];
  for (let at = view.getUint32(4, isLittleEndian); at !== 0 && offsets.length < pagesMax; ) {
    if (offsets.includes(at) || at + 2 > view.byteLength) break;
    offsets.push(at);
    // A directory is a count, twelve bytes per entry, and the offset of the next directory.
    const next = at + 2 + view.getUint16(at, isLittleEndian) * 12;
    if (next + 4 > view.byteLength) break;
    at = view.getUint32(next, isLittleEndian);
  }
  if (offsets.length < 2) return undefined;
  const file = new Uint8Array(bytes);
  return {
    count: offsets.length,
    /** Returns the file with page `page` (from 0) as its first. Changes one shared copy, to save memory. */
    withPageFirst(page: number): Uint8Array {
      new DataView(file.buffer).setUint32(4, offsets[page] ?? 0, isLittleEndian);
      return file;
    },
  };
}
