import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PDFDocumentProxy, PDFPageProxy } from 'pdfjs-dist';
import { CarrelError } from '../../base/errors.ts';
import { isBuilt } from '../../base/program-files.ts';

export type PdfDocument = PDFDocumentProxy;
export type PdfPage = PDFPageProxy;

/** Opens a PDF for its text and pictures. Nothing is drawn, run or fetched. */
export async function openPdf(bytes: Uint8Array): Promise<PdfDocument> {
  const { getDocument } = await loadPdfJs();
  try {
    return await getDocument({
      // A copy: pdf.js takes over the buffer, and rejects a Buffer.
      data: new Uint8Array(bytes),
      BinaryDataFactory: PdfJsFiles,
      // Only names, because `PdfJsFiles` reads the files.
      cMapUrl: 'cmaps/',
      cMapPacked: true,
      wasmUrl: 'wasm/',
      disableFontFace: true,
      useSystemFonts: false,
      useWorkerFetch: false,
      isOffscreenCanvasSupported: false,
      isImageDecoderSupported: false,
      enableXfa: false,
      // Max pixels of a picture, enough for A3 at 600 dpi. Larger ones need hundreds of megabytes and are skipped.
      maxImageSize: 70_000_000,
      stopAtErrors: false,
      verbosity: 0,
    }).promise;
  } catch (error) {
    if (error instanceof Error && error.name === 'PasswordException') {
      const message = 'This PDF needs a password. Look for a version without one.';
      throw new CarrelError('encrypted_document', message, { cause: error });
    }
    const message = 'This PDF is damaged and cannot be read. Get it again from its source.';
    throw new CarrelError('extraction_failed', message, { cause: error });
  }
}

export async function loadPdfJs(): Promise<typeof import('pdfjs-dist')> {
  // pdf.js creates a DOMMatrix when it loads. It is for drawing, so an empty class is enough.
  if (!('DOMMatrix' in globalThis)) Reflect.set(globalThis, 'DOMMatrix', class {});
  // Runs pdf.js's parser in this thread. It needs no worker thread, because the whole process can be killed.
  Reflect.set(globalThis, 'pdfjsWorker', await import('pdfjs-dist/legacy/build/pdf.worker.mjs'));
  return import('pdfjs-dist/legacy/build/pdf.mjs');
}

/** Reads the files that pdf.js would fetch: tables of Asian encodings, decoders of scanned pages (JBIG2, CCITT, JPEG 2000). */
class PdfJsFiles {
  async fetch({ kind, filename }: { kind: string; filename: string }): Promise<Uint8Array> {
    // The document chooses the names of its encodings, so they are checked.
    if (!/^[\w-]+\.(?:bcmap|wasm)$/.test(filename)) throw new Error('no such file');
    const folder = kind === 'cMapUrl' ? 'cmaps' : 'wasm';
    return new Uint8Array(await readFile(join(pdfJsFolder(), folder, filename)));
  }
}

function pdfJsFolder(): string {
  if (isBuilt) return fileURLToPath(new URL('./pdfjs', import.meta.url));
  return dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'));
}
