const pagesMax = 2000;

/**
 * A TIFF file (revision 6.0) for each page of one: copies whose header points at another page. Undefined for what is no TIFF
 * or has a single page.
 */
export function tiffPages(bytes: Uint8Array): Uint8Array[] | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.byteLength < 8) return undefined;
  const order = view.getUint16(0);
  if (order !== 0x4949 && order !== 0x4d4d) return undefined;
  const little = order === 0x4949;
  if (view.getUint16(2, little) !== 42) return undefined;
  const offsets: number[] = [];
  for (let at = view.getUint32(4, little); at !== 0 && offsets.length < pagesMax; ) {
    if (offsets.includes(at) || at + 2 > view.byteLength) break;
    offsets.push(at);
    // A directory is a count, twelve bytes for each entry, and where the next directory is.
    const next = at + 2 + view.getUint16(at, little) * 12;
    if (next + 4 > view.byteLength) break;
    at = view.getUint32(next, little);
  }
  if (offsets.length < 2) return undefined;
  return offsets.map((offset) => {
    const page = new Uint8Array(bytes);
    new DataView(page.buffer).setUint32(4, offset, little);
    return page;
  });
}
