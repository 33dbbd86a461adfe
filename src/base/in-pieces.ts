/** Regroups bytes into pieces of at least `bytesMin` bytes; only the last may be smaller. */
export async function* inPieces(
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  bytesMin: number,
): AsyncGenerator<Buffer> {
  let parts: Uint8Array[] = [];
  let size = 0;
  for await (const bytes of content) {
    parts.push(bytes);
    size += bytes.byteLength;
    if (size < bytesMin) continue;
    yield Buffer.concat(parts);
    [parts, size] = [[], 0];
  }
  if (size > 0) yield Buffer.concat(parts);
}
