import { isObject } from '../../../base/json.ts';
import type { Engine, JobId } from '../../../engine/engine.ts';
import type { LastingWork } from '../../../tools/tool.ts';
import { showJob } from '../shapes/shapes.ts';

/** Lets a call wait for its ingestion job. The job runs in the engine, so it continues even if the call ends. */
export function createLastingIngestion(engine: Pick<Engine, 'job' | 'cancelJob'>): LastingWork {
  return {
    nameOf(answer) {
      const { job_id: id, status } = isObject(answer) ? answer : {};
      const isWaiting = status === 'queued' || status === 'processing';
      return isWaiting && (typeof id === 'number' || typeof id === 'string') ? JSON.stringify(id) : undefined;
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
