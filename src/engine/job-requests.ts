import type { JobListRequest, JobStatus } from '../storage/contracts/ingestion.ts';
import { type JobsRequest, jobStatuses } from './engine.ts';
import { fault } from './given.ts';
import { pageOf } from './paging.ts';

/** Undefined: no job of this engine is ever like that. */
export function jobsOf({ status, ...page }: JobsRequest): JobListRequest | undefined {
  if (status === foreignStatus) return undefined;
  return { ...pageOf(page), status: statusOf(status) };
}

/** The engine that 003 describes gives it to what it did not take in a second time; ours answers 409 to that. */
const foreignStatus = 'skipped';

function statusOf(given: string | undefined): JobStatus | undefined {
  if (given === undefined || given === '') return undefined;
  const status = jobStatuses.find((each) => each === given);
  if (status === undefined) throw fault(`status must be one of ${jobStatuses.join(', ')}`);
  return status;
}
