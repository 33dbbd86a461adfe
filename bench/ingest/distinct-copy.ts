const zipped = new Set(['docx', 'pptx', 'xlsx', 'odt', 'ods', 'odp', 'epub', 'zip']);

/** Returns a copy with the same text but different bytes, because the engine stores identical files only once. */
export function distinctCopy(format: string, bytes: Buffer, index: number): Buffer {
  if (zipped.has(format)) return withZipComment(bytes, `copy ${index}`);
  if (format === 'pdf') return Buffer.concat([bytes, Buffer.from(`\n%${index}\n`)]);
  // In UTF-16, a line break takes two bytes.
  const newline = bytes[0] === 0xff ? '\n\0' : bytes[0] === 0xfe ? '\0\n' : '\n';
  return Buffer.concat([bytes, Buffer.from(newline.repeat(index + 1))]);
}

/** Sets the archive's comment. It is the last field (APPNOTE 4.3.16); its length is in the two bytes before it. */
function withZipComment(bytes: Buffer, comment: string): Buffer {
  const end = bytes.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  const head = Buffer.from(bytes.subarray(0, end + 22));
  head.writeUInt16LE(comment.length, end + 20);
  return Buffer.concat([head, Buffer.from(comment)]);
}
