import type { JobListRequest, JobStatus } from '../storage/ingestion.ts';
import { type JobsRequest, jobStatuses } from './engine.ts';
import { fault } from './given.ts';
import { pageOf } from './paging.ts';

export function jobsOf({ status, ...page }: JobsRequest): JobListRequest {
  return { ...pageOf(page), status: statusOf(status) };
}

function statusOf(given: string | undefined): JobStatus | undefined {
  if (given === undefined || given === '') return undefined;
  const status = jobStatuses.find((each) => each === given);
  if (status === undefined) throw fault(`status must be one of ${jobStatuses.join(', ')}`);
  return status;
}
