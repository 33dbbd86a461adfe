import { loadPdfJs, type PdfPage } from './pdf-js.ts';

interface PictureStore {
  get(name: string, done: (picture: unknown) => void): unknown;
}

interface Picture {
  data: Uint8Array;
  width: number;
  height: number;
  /** 1: one bit per pixel, where 1 is white. 2: red, green, blue. 3: red, green, blue, alpha. */
  kind: number;
}

/** Min width and height in pixels. Smaller pictures are marks and ornaments. */
const sideMin = 60;
const picturesMax = 200;

/** Yields the pictures of a page, in order, as PNM files. A scanned page is one picture, or a few strips. */
export async function* pdfPictures(page: PdfPage): AsyncGenerator<Uint8Array, void> {
  const { OPS } = await loadPdfJs();
  const { fnArray, argsArray } = await page.getOperatorList();
  let count = 0;
  for (let index = 0; index < fnArray.length && count < picturesMax; index += 1) {
    if (fnArray[index] !== OPS.paintImageXObject) continue;
    const [name] = argsArray[index] as [unknown];
    if (typeof name !== 'string') continue;
    const store: PictureStore = name.startsWith('g_') ? page.commonObjs : page.objs;
    const picture = await new Promise<unknown>((resolve) => store.get(name, resolve));
    if (!isPicture(picture) || picture.width < sideMin || picture.height < sideMin) continue;
    count += 1;
    yield pnmOf(picture);
  }
}

function isPicture(value: unknown): value is Picture {
  return typeof value === 'object' && value !== null && 'data' in value && 'kind' in value && 'width' in value;
}

/** Converts a picture to PNM ("portable any map"): a header and the pixels. */
function pnmOf({ data, width, height, kind }: Picture): Uint8Array {
  if (kind === 1) {
    // In PNM, black is 1.
    const pixels = data.map((byte) => ~byte & 0xff);
    return pnmFile(`P4 ${width} ${height}\n`, pixels);
  }
  const pixelBytes = kind === 3 ? 4 : 3;
  const grey = new Uint8Array(width * height);
  for (let pixel = 0; pixel < grey.length; pixel += 1) {
    const at = pixel * pixelBytes;
    grey[pixel] = ((data[at] ?? 0) * 77 + (data[at + 1] ?? 0) * 151 + (data[at + 2] ?? 0) * 28) >> 8;
  }
  return pnmFile(`P5 ${width} ${height} 255\n`, grey);
}

function pnmFile(header: string, pixels: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(header), pixels]);
}
