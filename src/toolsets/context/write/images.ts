import { CarrelError } from '../../../base/errors.ts';
import { isObject } from '../../../base/json.ts';
import type { Metadata, NewImage } from '../../../storage/entries/entry.ts';
import { bounds, checkBound } from '../inputs.ts';
import { checkJson } from './checked-text.ts';

export interface ImageLimits {
  readonly imageMaxMb: number;
  readonly imagesMaxMb: number;
}

/** Decodes and checks images and other files. Only the first decoded bytes are inspected. */
export function parseImages(images: readonly Readonly<Record<string, unknown>>[], limits: ImageLimits): NewImage[] {
  checkBound(bounds.images, images.length);
  let total = 0;
  return images.map((image, index) => {
    const data = decode(image['data'], index);
    if (data.length > limits.imageMaxMb * mebibyte) {
      throw invalid(`Image ${index} exceeds ${limits.imageMaxMb}MB limit: it has ${data.length} bytes`);
    }
    total += data.length;
    if (total > limits.imagesMaxMb * mebibyte) {
      throw invalid(`Total image size exceeds ${limits.imagesMaxMb}MB limit: image ${index} makes it ${total} bytes`);
    }
    return {
      data,
      mimeType: mimeTypeOf(image['mime_type'], data, index),
      metadata: metadataOf(image['metadata'], index),
    };
  });
}

export function showImage({ data, mimeType, metadata }: NewImage) {
  return {
    data: Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64'),
    mime_type: mimeType,
    ...(metadata === undefined ? {} : { metadata }),
  };
}

const mebibyte = 1024 * 1024;

function decode(data: unknown, index: number): Uint8Array {
  if (data === undefined || data === null) throw invalid(`Image ${index} is missing required "data" field`);
  if (typeof data !== 'string') throw invalid(`Image ${index} has invalid base64 encoding: it must be a string`);
  if (data === '') throw invalid(`Image ${index} has empty "data" field`);
  // The data may be line-wrapped, as `base64` and mail programs write it.
  const unwrapped = data.replace(/[ \t]*[\r\n]+[ \t]*/g, '');
  // Node's decoder skips invalid input; comparing the re-encoded text detects it.
  const bytes = Buffer.from(unwrapped, 'base64');
  if (bytes.length === 0 || bytes.toString('base64') !== unwrapped) {
    throw invalid(`Image ${index} has invalid base64 encoding`);
  }
  return new Uint8Array(bytes);
}

const signatures: readonly [mimeType: string, test: (bytes: Uint8Array) => boolean][] = [
  ['image/png', (bytes) => startsWith(bytes, 0x89, 0x50, 0x4e, 0x47)],
  ['image/jpeg', (bytes) => startsWith(bytes, 0xff, 0xd8, 0xff)],
  ['image/gif', (bytes) => startsWith(bytes, 0x47, 0x49, 0x46, 0x38)],
  ['image/webp', (bytes) => startsWith(bytes, 0x52, 0x49, 0x46, 0x46) && ascii(bytes, 8, 12) === 'WEBP'],
  ['image/bmp', (bytes) => startsWith(bytes, 0x42, 0x4d)],
  ['image/avif', (bytes) => ascii(bytes, 4, 12) === 'ftypavif'],
];

const rasterType = /^image\/(png|jpe?g|gif|webp|bmp|avif)$/;
/** A MIME type or, as in mcp-context-server, a single word such as `png`. */
const mimeTypePattern = /^[\w.+-]{1,100}(?:\/[\w.+-]{1,100})?(; ?[\w.+-]{1,50}=[\w.+-]{1,50}){0,5}$/;

/**
 * Returns the MIME type of a file. Any declared type is accepted, because files are never rendered. If a raster image
 * or no type is declared, the file's signature decides. Otherwise the declared type stays, because a file may start
 * with a bitmap's `BM` by chance.
 */
function mimeTypeOf(declared: unknown, data: Uint8Array, index: number): string {
  const mimeType = declared ?? 'image/png';
  if (typeof mimeType !== 'string' || !mimeTypePattern.test(mimeType)) {
    throw invalid(`Image ${index}: mime_type must be like image/png or application/pdf`);
  }
  if (!rasterType.test(mimeType)) return mimeType;
  return signatures.find(([, test]) => test(data))?.[0] ?? mimeType;
}

/** Checks an image's metadata: an object or, as in early versions of the interface, text. It is stored unchanged. */
function metadataOf(metadata: unknown, index: number): Metadata | string | undefined {
  if (metadata === undefined || metadata === null) return undefined;
  if (typeof metadata !== 'string' && !isObject(metadata)) {
    throw invalid(`Image ${index} has metadata that is neither an object nor text`);
  }
  checkJson(`images[${index}].metadata`, metadata);
  return typeof metadata === 'string' ? metadata : { ...metadata };
}

function startsWith(bytes: Uint8Array, ...signature: number[]): boolean {
  return signature.every((byte, index) => bytes[index] === byte);
}

function ascii(bytes: Uint8Array, start: number, end: number): string {
  return String.fromCharCode(...bytes.subarray(start, end));
}

function invalid(message: string): CarrelError {
  return new CarrelError('invalid_arguments', message);
}
