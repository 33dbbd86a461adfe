/** Regroups bytes into pieces of at least `bytesMin` bytes; only the last may be smaller. */
export async function* inPieces(
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  bytesMin: number,
): AsyncGenerator<Buffer> {
  let held: Uint8Array[] = [];
  let size = 0;
  for await (const part of content) {
    held.push(part);
    size += part.byteLength;
    if (size < bytesMin) continue;
    yield Buffer.concat(held);
    [held, size] = [[], 0];
  }
  if (size > 0) yield Buffer.concat(held);
}
