import { damagedOle } from './compound-file.ts';

/** Initial content of the dictionary ([MS-OXRTFCP] 2.1.2.1). */
const initialDictionary =
  '{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx';
const dictionaryBytes = 4096;
const headerBytes = 16;
const [uncompressed, compressed] = ['MELA', 'LZFu'];
/** Max growth when unpacking. Each two-byte reference expands to at most seventeen bytes. */
const growthFactorMax = 10;

/** Unpacks the RTF of an Outlook message, which may be compressed as in [MS-OXRTFCP]. */
export function unpackRtf(packed: Buffer): Buffer {
  if (packed.length < headerBytes) throw damagedOle();
  const kind = packed.toString('latin1', 8, 12);
  if (kind === uncompressed) return packed.subarray(headerBytes);
  if (kind !== compressed) throw damagedOle();
  const size = Math.min(packed.readUInt32LE(4), packed.length * growthFactorMax);
  const dictionary = Buffer.alloc(dictionaryBytes);
  let end = dictionary.write(initialDictionary, 'latin1');
  const text = Buffer.alloc(size);
  let length = 0;
  const emit = (byte: number) => {
    if (length < size) text[length] = byte;
    length += 1;
    dictionary[end] = byte;
    end = (end + 1) % dictionaryBytes;
  };
  for (let at = headerBytes; at < packed.length && length < size; ) {
    const flags = packed.readUInt8(at);
    at += 1;
    for (let bit = 0; bit < 8 && at < packed.length; bit += 1) {
      if ((flags & (1 << bit)) === 0) {
        emit(packed.readUInt8(at));
        at += 1;
        continue;
      }
      if (at + 2 > packed.length) break;
      const reference = packed.readUInt16BE(at);
      at += 2;
      const from = reference >> 4;
      if (from === end) return text.subarray(0, Math.min(length, size));
      for (let count = 0; count < (reference & 0x0f) + 2; count += 1)
        emit(dictionary[(from + count) % dictionaryBytes] ?? 0);
    }
  }
  return text.subarray(0, Math.min(length, size));
}
