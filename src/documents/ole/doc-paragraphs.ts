/** Properties of a paragraph in an old Word file. */
export interface DocParagraph {
  /** Heading level from 1 to 9; 0 if it is not a heading. */
  readonly heading: number;
  readonly isInTable: boolean;
  /** True for the paragraph at the end of a table row, which has no text. */
  readonly endsRow: boolean;
  /** Level in a list, from 0. Null outside lists. */
  readonly listLevel: number | null;
}

interface Run {
  readonly end: number;
  readonly paragraph: DocParagraph;
}

const pageBytes = 512;
/** Max runs that fit into a page. */
const runsMax = 0x1d;
/** Bytes of a pointer to a paragraph's properties. */
const pointerBytes = 13;
const unformatted: DocParagraph = { heading: 0, isInTable: false, endsRow: false, listLevel: null };

/**
 * Reads paragraph properties ([MS-DOC] 2.8.6 PlcBtePapx, 2.9.176 PapxFkp). Returns their lookup by stream position. They are
 * in pages of 512 bytes, each with the ends of text runs and the properties of each run.
 */
export function readDocParagraphs(document: Buffer, list: Buffer): (position: number) => DocParagraph {
  const runs: Run[] = [];
  const pages = Math.floor((list.length - 4) / 8);
  const seen = new Set<number>();
  for (let index = 0; index < pages; index += 1) {
    const start = (list.readUInt32LE((pages + 1) * 4 + index * 4) & 0x3f_ffff) * pageBytes;
    // Skips repeated pages, because they could need many times the file's memory.
    if (seen.has(start)) continue;
    seen.add(start);
    if (start + pageBytes <= document.length) runs.push(...runsOf(document.subarray(start, start + pageBytes)));
  }
  runs.sort((one, other) => one.end - other.end);
  return (position) => {
    let [low, high] = [0, runs.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((runs[middle]?.end ?? 0) <= position) low = middle + 1;
      else high = middle;
    }
    return runs[low]?.paragraph ?? unformatted;
  };
}

function runsOf(page: Buffer): Run[] {
  const count = Math.min(page.readUInt8(pageBytes - 1), runsMax);
  return Array.from({ length: count }, (_, index) => {
    const offset = page.readUInt8((count + 1) * 4 + index * pointerBytes) * 2;
    return {
      end: page.readUInt32LE((index + 1) * 4),
      paragraph: offset === 0 ? unformatted : paragraphAt(page, offset),
    };
  });
}

function paragraphAt(page: Buffer, offset: number): DocParagraph {
  const halfLength = page.readUInt8(offset);
  const start = halfLength === 0 ? offset + 2 : offset + 1;
  const length = halfLength === 0 ? page.readUInt8(offset + 1) * 2 : halfLength * 2 - 1;
  const properties = page.subarray(start, Math.min(start + length, pageBytes));
  if (properties.length < 2) return unformatted;
  // The first styles are the same in every document: 1 to 9 are headings ([MS-DOC] 2.4.6.5).
  const style = properties.readUInt16LE(0);
  const paragraph = { heading: style >= 1 && style <= 9 ? style : 0, isInTable: false, endsRow: false };
  let [level, list] = [0, 0];
  for (let position = 2; position + 3 <= properties.length; ) {
    const code = properties.readUInt16LE(position);
    const value = properties.readUInt8(position + 2);
    if (code === 0x2416) paragraph.isInTable = value === 1;
    else if (code === 0x2417) paragraph.endsRow = value === 1;
    else if (code === 0x260a) level = Math.min(value, 8);
    else if (code === 0x460b) list = value;
    position += 2 + operandBytes(code, properties, position + 2);
  }
  return { ...paragraph, listLevel: list === 0 ? null : level };
}

/** Returns the length of a property's value, by its code ([MS-DOC] 2.2.5.1). */
function operandBytes(code: number, properties: Buffer, position: number): number {
  const bytes = [1, 1, 2, 4, 2, 2, 0, 3][code >> 13] ?? 0;
  if (bytes > 0) return bytes;
  // A table definition has a two-byte length, everything else a one-byte length.
  return code === 0xd608 && position + 2 <= properties.length
    ? properties.readUInt16LE(position) + 1
    : properties.readUInt8(position) + 1;
}
