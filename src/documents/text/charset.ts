import type { DocumentKind } from '../document.ts';
import { declaredInMarkup, encodingOf } from './charset-declared.ts';

/**
 * Decodes bytes. The encoding comes from the byte order mark, the header, the document's declaration, or the bytes, in this
 * order (HTML standard, "determining the character encoding").
 */
export async function decodeBytes(
  bytes: Uint8Array,
  contentType: string | undefined,
  kind: DocumentKind,
): Promise<string> {
  const bomEncoding = encodingOfBom(bytes);
  if (bomEncoding) return new TextDecoder(bomEncoding).decode(bytes);
  const declared = headerCharset(contentType) ?? (usesMarkup(kind) ? declaredInMarkup(bytes) : undefined);
  // Many servers declare UTF-8 for files in other encodings. A declaration that the bytes contradict is ignored.
  if (declared && (declared !== 'utf-8' || isUtf8(bytes))) return new TextDecoder(declared).decode(bytes);
  return new TextDecoder(await detectEncoding(bytes, declared)).decode(bytes);
}

function encodingOfBom(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return undefined;
}

function headerCharset(contentType = ''): string | undefined {
  const label = /;\s*charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;"']+))/i.exec(contentType.slice(0, 1000));
  return encodingOf(label?.[1] ?? label?.[2] ?? label?.[3]);
}

function usesMarkup(kind: DocumentKind): boolean {
  return kind === 'html' || kind === 'xml' || kind === 'feed';
}

async function detectEncoding(bytes: Uint8Array, declared: string | undefined): Promise<string> {
  const utf16 = detectUtf16(bytes);
  if (utf16) return utf16;
  if (isUtf8(bytes)) return 'utf-8';
  // Loaded on first use, because its tables are large.
  const jschardet = await import('jschardet');
  const { encoding, confidence } = jschardet.detect(sampleOf(bytes));
  const detected = encodingOf(aliases.get(encoding?.toLowerCase() ?? '') ?? encoding ?? undefined);
  if (detected && detected !== 'utf-8' && confidence >= 0.2) return detected;
  // The text may be in UTF-8 as declared, with a few broken bytes.
  return declared ?? 'windows-1252';
}

/** Maps jschardet's encoding names to the Encoding standard's, where they differ. */
const aliases = new Map([
  ['maccyrillic', 'x-mac-cyrillic'],
  ['cp949', 'euc-kr'],
  ['ascii', 'windows-1252'],
]);

function detectUtf16(bytes: Uint8Array): string | undefined {
  const length = Math.min(bytes.length, 4096);
  let even = 0;
  let odd = 0;
  for (let index = 0; index + 1 < length; index += 2) {
    if (bytes[index] === 0) even += 1;
    if (bytes[index + 1] === 0) odd += 1;
  }
  if (Math.max(even, odd) < length * 0.2) return undefined;
  return odd > even ? 'utf-16le' : 'utf-16be';
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    // `stream` allows a document that is truncated inside a character.
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** Returns a sample for detecting the encoding, from the first non-ASCII byte: encodings differ only there. */
function sampleOf(bytes: Uint8Array): Buffer {
  const bytesMax = 65_536;
  const first = bytes.findIndex((byte) => byte > 127);
  const from = Math.max(0, Math.min(first, bytes.length - bytesMax));
  return Buffer.from(bytes.subarray(from, from + bytesMax));
}
