/**
 * The process in which documents become text: started by `extract-process.ts`, one document at a time.
 * Its first argument is the resident memory in MB above which it must end.
 */
import { setPriority } from 'node:os';
import { Worker } from 'node:worker_threads';
import { type ErrorCode, isCarrelError } from '../base/errors.ts';
import { cpuMs } from './cpu-clock.ts';
import type { DocumentSource, ExtractedDocument, ExtractLimits } from './document.ts';
import { extractDocument } from './extract-document.ts';
import type { WatchData } from './memory-watch-worker.ts';

export interface ExtractRequest {
  source: DocumentSource;
  limits: ExtractLimits;
  /** After so much CPU time the process ends. */
  cpuMsMax: number;
}

export type ExtractReply =
  | { type: 'ready' }
  | { type: 'document'; residentMb: number; document: ExtractedDocument }
  | {
      type: 'failure';
      residentMb: number;
      code: ErrorCode;
      message: string;
      data: Record<string, unknown>;
      cause: string;
    };

/** Of 19: enough to give way, little enough to get on while others work. */
const niceness = 5;

const deadline = new Float64Array(new SharedArrayBuffer(8)).fill(Number.POSITIVE_INFINITY);
const watch = import.meta.url.endsWith('.ts') ? './memory-watch-worker.ts' : './memory-watch-worker.js';
new Worker(new URL(watch, import.meta.url), {
  workerData: { memoryMb: Number(process.argv[2]), parentId: process.ppid, deadline } satisfies WatchData,
  execArgv: [],
}).once('online', () => reply({ type: 'ready' }));

// On a full machine the process that answers goes before the ones that read. Some systems do not allow the change.
try {
  setPriority(niceness);
} catch {}

process.on('disconnect', () => process.exit());
process.on('message', async (request: ExtractRequest) => {
  reply(await answer(request));
});

async function answer({ source, limits, cpuMsMax }: ExtractRequest): Promise<ExtractReply> {
  deadline[0] = cpuMs() + cpuMsMax;
  try {
    const document = await extractDocument(source, limits);
    return { type: 'document', residentMb: residentMb(), document };
  } catch (error) {
    const cause = error instanceof Error ? `${error.name}: ${error.message}`.slice(0, 500) : 'not an error';
    if (isCarrelError(error)) {
      return {
        type: 'failure',
        residentMb: residentMb(),
        code: error.code,
        message: error.message,
        data: error.data,
        cause,
      };
    }
    return {
      type: 'failure',
      residentMb: residentMb(),
      code: 'extraction_failed',
      message: 'The document is damaged or not what it says it is: it could not be read.',
      data: {},
      cause,
    };
  } finally {
    deadline[0] = Number.POSITIVE_INFINITY;
  }
}

function reply(message: ExtractReply): void {
  process.send?.(message);
}

function residentMb(): number {
  return process.memoryUsage.rss() / 1024 / 1024;
}
