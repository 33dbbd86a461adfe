import { encodingOf } from '../text/charset-declared.ts';

/** Code pages by `\fcharset` value (RTF 1.9.1, "Font Table"). Other values mean the document's own code page. */
const codePagesOfCharsets = new Map([
  [77, 10000],
  [128, 932],
  [129, 949],
  [134, 936],
  [136, 950],
  [161, 1253],
  [162, 1254],
  [163, 1258],
  [177, 1255],
  [178, 1256],
  [186, 1257],
  [204, 1251],
  [222, 874],
  [238, 1250],
]);

const encodingsOfCodePages = new Map([
  [437, 'ibm866'],
  [708, 'iso-8859-6'],
  [850, 'windows-1252'],
  [866, 'ibm866'],
  [874, 'windows-874'],
  [932, 'shift_jis'],
  [936, 'gbk'],
  [949, 'euc-kr'],
  [950, 'big5'],
  [10000, 'macintosh'],
  [10007, 'x-mac-cyrillic'],
  [65001, 'utf-8'],
]);

export function codePageOf(charset: number): number | undefined {
  return codePagesOfCharsets.get(charset);
}

export function decodeCodePage(bytes: Iterable<number>, codePage: number): string {
  const encoding = encodingsOfCodePages.get(codePage) ?? encodingOf(`windows-${codePage}`) ?? 'windows-1252';
  return new TextDecoder(encoding).decode(Uint8Array.from(bytes));
}
