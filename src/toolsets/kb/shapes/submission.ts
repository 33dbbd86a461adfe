import { isObject } from '../../../base/json.ts';
import type { Engine, EngineCall, EngineDocument, JobId, SubmitOutcome } from '../../../engine/engine.ts';
import type { BackgroundWork } from '../../../tools/tool.ts';
import { splitTags } from '../inputs/collections.ts';
import { showJob } from './shapes.ts';

/** If `status` is `duplicate`, `document_id` or `job_id` is that of the existing content. */
export const outcomeFields = 'status, job_id?, document_id?, filename?, title?, collection?, tags?, message?';

/** Returns the answer to a submission: its job, or the document or job that already has the same content. */
export async function describeOutcome(
  engine: Pick<Engine, 'documentWithoutChunks'>,
  outcome: SubmitOutcome,
  tags: readonly string[],
  options: EngineCall,
) {
  if (outcome.accepted) {
    const { job_id, status, filename } = outcome;
    return { status, job_id, filename, ...splitTags(tags) };
  }
  const { document_id, job_id, title } = outcome;
  // The submission succeeded, so a failed lookup must not fail the call.
  const existing =
    document_id === undefined
      ? undefined
      : await engine.documentWithoutChunks(document_id, options).catch(() => undefined);
  const existingItem = document_id === undefined ? `job ${job_id}` : `document ${document_id}`;
  return {
    status: 'duplicate',
    ...(document_id === undefined ? {} : { document_id }),
    ...(job_id === undefined ? {} : { job_id }),
    title: title ?? existing?.title ?? null,
    ...(existing === undefined ? {} : splitTags(existing.tags)),
    message: `The same content is already ${existingItem}, so nothing was added.${moveHint(tags, existing)}`,
  };
}

/** Returns a hint if the existing document is not in the requested collection. */
function moveHint(requested: readonly string[], existing: EngineDocument | undefined): string {
  if (existing === undefined) return '';
  const [from, to] = [splitTags(existing.tags).collection, splitTags(requested).collection];
  if (from === to || to === null) return '';
  const location = from === null ? 'in no collection' : `in the collection ${from}`;
  return ` It is ${location}; kb_set_collection moves it to ${to}.`;
}

/** Lets a call wait for its ingestion job, which continues in the engine even if the call ends. */
export function createIngestionWork(engine: Pick<Engine, 'job' | 'cancelJob'>): BackgroundWork {
  return {
    nameOf(answer) {
      const { job_id: id, status } = isObject(answer) ? answer : {};
      const isPending = status === 'queued' || status === 'processing';
      return isPending && (typeof id === 'number' || typeof id === 'string') ? JSON.stringify(id) : undefined;
    },
    async check(name, { signal }, first = {}) {
      const job = await engine.job(JSON.parse(name) as JobId, { signal });
      if (job.status === 'queued') return { message: 'Queued for ingestion.' };
      if (job.status === 'processing') return { message: `Ingesting: ${job.progress?.phase ?? 'starting'}.` };
      return { answer: { ...first, ...showJob(job) } };
    },
    async stop(name) {
      await engine.cancelJob(JSON.parse(name) as JobId);
    },
  };
}
