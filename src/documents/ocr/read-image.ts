import { CarrelError } from '../../base/errors.ts';
import { cpuMs } from '../cpu-clock.ts';
import type { Mark, Reading, ReadOptions } from '../document.ts';
import { collapseLines } from '../text/clean-text.ts';
import { loadRecogniser } from './recogniser.ts';
import { tiffPages } from './tiff-pages.ts';

/** A picture of text. A TIFF may have several pages. */
export async function readImage(
  bytes: Uint8Array,
  languages: readonly string[],
  { stopAt, charsMax }: Pick<ReadOptions, 'stopAt' | 'charsMax'>,
): Promise<Reading> {
  const recogniser = await loadRecogniser(languages);
  const pictures = tiffPages(bytes) ?? [bytes];
  const texts: string[] = [];
  const marks: Mark[] = [];
  const confidences: number[] = [];
  let length = 0;
  let read = 0;
  for (const picture of pictures) {
    if (read > 0 && (cpuMs() >= stopAt || length > charsMax)) break;
    const found = recogniser.recognise(picture);
    read += 1;
    if (found === undefined) continue;
    const text = collapseLines(found.text);
    if (text === '') continue;
    if (pictures.length > 1) marks.push({ offset: length, page: read });
    texts.push(text);
    confidences.push(found.confidence);
    length += text.length + 2;
  }
  if (confidences.length === 0) {
    throw new CarrelError('no_text_in_document', 'No text was found in this picture.');
  }
  return {
    title: null,
    text: texts.join('\n\n'),
    marks,
    pages: pictures.length,
    recognised: { pages: confidences.length, confidence: meanOf(confidences) },
    truncated: read < pictures.length && { read, of: pictures.length, unit: 'pages' },
  };
}

export function meanOf(confidences: readonly number[]): number {
  return Math.round(confidences.reduce((sum, each) => sum + each, 0) / confidences.length);
}
