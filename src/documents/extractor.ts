import { CarrelError } from '../base/errors.ts';
import { createPool } from '../base/workers/pool.ts';
import type { DocumentSource, ExtractedDocument, ExtractLimits } from './document.ts';
import { createExtractProcess, type ExtractOptions } from './extract-process.ts';

export interface ExtractorConfig {
  /** Max CPU time for one document. */
  cpuMsMax: number;
  /** Max resident memory per worker, off-heap buffers included. */
  memoryMb: number;
  workersMax: number;
  /** Max bytes of a document. Larger ones are refused unread. */
  bytesMax?: number;
  /** Max UTF-16 units of the text. Longer text is truncated, and `truncated` is set. */
  textCharsMax?: number;
  /** Max documents waiting for a worker. */
  queueMax?: number;
  /** Time after which an idle worker stops. */
  idleMs?: number;
  /** If false, PDFs are refused, and the PDF reader is never loaded. */
  pdfEnabled?: boolean;
  /** Languages for OCR. If empty or undefined, OCR is off. */
  ocrLanguages?: readonly string[];
}

export interface Extractor {
  extract(source: DocumentSource, options?: ExtractOptions): Promise<ExtractedDocument>;
  /** Kills the workers; running and waiting documents fail as cancelled. */
  close(): Promise<void>;
}

/**
 * Extracts text in separate processes, so that no input can stop or exhaust the server. A process that exceeds its time or
 * memory is killed, and the next document starts a new one.
 */
export function createExtractor(config: ExtractorConfig): Extractor {
  const { cpuMsMax, memoryMb, workersMax, bytesMax = 16 * 1024 * 1024, idleMs = 10_000 } = config;
  const limits: ExtractLimits = {
    textCharsMax: config.textCharsMax ?? 2_000_000,
    softCpuMs: Math.round(cpuMsMax * 0.8),
    pdfEnabled: config.pdfEnabled ?? true,
    ocrLanguages: config.ocrLanguages ?? [],
  };
  const pool = createPool(
    {
      workersMax,
      waitingMax: config.queueMax ?? workersMax * 32,
      idleMs,
      refusal: () =>
        new CarrelError('too_many_in_flight', 'Too many documents are waiting to be read. Try again shortly.', {
          retryAfterSeconds: Math.ceil(cpuMsMax / 1000),
        }),
      closedError: () => new CarrelError('cancelled', 'The extractor is closed.'),
    },
    () => createExtractProcess({ memoryMb, cpuMsMax }),
  );
  return {
    async extract(source, options = {}) {
      if (source.bytes.byteLength > bytesMax) {
        const message = `The document is larger than ${bytesMax} bytes, the limit. Split it, or use a smaller version.`;
        throw new CarrelError('document_too_large', message, { data: { bytes: source.bytes.byteLength, bytesMax } });
      }
      return pool.use((worker) => worker.run(source, limits, options), options.signal);
    },
    close: pool.close,
  };
}
