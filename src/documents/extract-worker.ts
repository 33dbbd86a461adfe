/**
 * The process in which documents become text: started by `extract-process.ts`, one document at a time.
 * Its first argument is the resident memory in MB above which it must end.
 */
import { Worker } from 'node:worker_threads';
import { type ErrorCode, isCarrelError } from '../base/errors.ts';
import type { DocumentSource, ExtractedDocument, ExtractLimits } from './document.ts';
import { extractDocument } from './extract-document.ts';

export interface ExtractRequest {
  source: DocumentSource;
  limits: ExtractLimits;
}

export type ExtractReply =
  | { type: 'ready' }
  | { type: 'document'; document: ExtractedDocument }
  | { type: 'failure'; code: ErrorCode; message: string; data: Record<string, unknown>; cause: string };

const watch = import.meta.url.endsWith('.ts') ? './memory-watch-worker.ts' : './memory-watch-worker.js';
new Worker(new URL(watch, import.meta.url), {
  workerData: { memoryMb: Number(process.argv[2]), parentId: process.ppid },
  execArgv: [],
}).once('online', () => reply({ type: 'ready' }));

process.on('disconnect', () => process.exit());
process.on('message', async (request: ExtractRequest) => {
  reply(await answer(request));
});

async function answer({ source, limits }: ExtractRequest): Promise<ExtractReply> {
  try {
    return { type: 'document', document: await extractDocument(source, limits) };
  } catch (error) {
    const cause = error instanceof Error ? `${error.name}: ${error.message}`.slice(0, 500) : 'not an error';
    if (isCarrelError(error)) {
      return { type: 'failure', code: error.code, message: error.message, data: error.data, cause };
    }
    return {
      type: 'failure',
      code: 'extraction_failed',
      message: 'The document is damaged or not what it says it is: it could not be read.',
      data: {},
      cause,
    };
  }
}

function reply(message: ExtractReply): void {
  process.send?.(message);
}
