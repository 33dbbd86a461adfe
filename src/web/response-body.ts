import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { CarrelError } from '../base/errors.ts';

/**
 * Reads and decompresses the whole body. Received bytes and decompressed bytes are each limited to `bytesMax`. Reading stops at
 * the limit, so a compression bomb costs no more memory than a page.
 */
export async function readBody(response: IncomingMessage, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  const encodings = contentEncodings(response.headers['content-encoding']);
  if (Number(response.headers['content-length']) > bytesMax) throw tooLarge(bytesMax);
  let source: AsyncIterable<Uint8Array> = limitBytes(response, bytesMax);
  for (const encoding of encodings.reverse()) source = decode(source, encoding);
  const chunks: Uint8Array[] = [];
  for await (const chunk of limitBytes(source, bytesMax)) chunks.push(chunk);
  return joinChunks(chunks);
}

/** Returns the encodings in the order in which they were applied. Allows few, because each multiplies the possible expansion. */
function contentEncodings(header: string | undefined): string[] {
  const names = (header ?? '').split(',', encodingsMax + 1).map((name) => name.trim().toLowerCase());
  const encodings = names.filter((name) => name !== '' && name !== 'identity');
  if (names.length > encodingsMax || !encodings.every((name) => supportedEncodings.has(name))) {
    const message =
      'The site sent the page in an unrequested encoding: only gzip, br and deflate are accepted, at most two of them. Fetch another page.';
    throw new CarrelError('unsupported_encoding', message);
  }
  return encodings;
}

const encodingsMax = 2;
const supportedEncodings = new Set(['gzip', 'x-gzip', 'br', 'deflate']);

/** Decodes a body. An empty body is a valid empty page in every encoding, although decoders reject it. */
async function* decode(source: AsyncIterable<Uint8Array>, encoding: string): AsyncGenerator<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]();
  const first = await chunks.next();
  if (first.done === true) return;
  const decoder = createDecoder(encoding, first.value);
  // Errors of the pipeline are ignored here, because reading from the decoder throws them too.
  pipeline(withFirst(first.value, chunks), decoder).catch(() => {});
  yield* decoder;
}

function createDecoder(encoding: string, firstChunk: Uint8Array): Transform {
  if (encoding === 'br') return createBrotliDecompress();
  if (encoding !== 'deflate') return createGunzip();
  // `deflate` means zlib (RFC 9110, 8.4.1.2), but some servers send raw deflate. The first byte shows which it is.
  return ((firstChunk[0] ?? 0) & 0x0f) === 8 ? createInflate() : createInflateRaw();
}

async function* withFirst(first: Uint8Array, remaining: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield first;
    for (let next = await remaining.next(); next.done !== true; next = await remaining.next()) yield next.value;
  } finally {
    await remaining.return?.();
  }
}

async function* limitBytes(source: AsyncIterable<Uint8Array>, bytesMax: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) throw tooLarge(bytesMax);
    yield chunk;
  }
}

function tooLarge(bytesMax: number): CarrelError {
  const message = `The answer is larger than the limit of ${bytesMax} bytes. Fetch a smaller page.`;
  return new CarrelError('too_large', message, { data: { bytesMax } });
}

/** Joins the chunks outside Node's shared buffer pool, so that the body can be transferred to a worker. */
function joinChunks(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const body = new Uint8Array(chunks.reduce((bytes, chunk) => bytes + chunk.byteLength, 0));
  let offset = 0;
  for (const chunk of chunks) {
    body.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return body;
}
