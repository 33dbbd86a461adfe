import type { IngestionStore } from '../../contracts/ingestion.ts';
import type { Transactions } from '../../transactions.ts';
import {
  acceptJob,
  cancelJob,
  claimJob,
  failJob,
  forgetJobs,
  giveBackJobs,
  postponeJob,
  renewJob,
} from './change-jobs.ts';
import { countJobs, getJob, leaseOwners, listJobs } from './read-jobs.ts';
import { finishJob } from './write-documents.ts';

export function createIngestionStore({ write, read }: Transactions): IngestionStore {
  return {
    accept: (request) => write(acceptJob, request),
    claim: (request) => write(claimJob, request),
    renew: (request) => write(renewJob, request),
    finish: (request) => write(finishJob, request),
    fail: (request) => write(failJob, request),
    postpone: (request) => write(postponeJob, request),
    giveBack: (request) => write(giveBackJobs, request),
    cancel: (request) => write(cancelJob, request),
    forget: (request) => write(forgetJobs, request),
    owners: (request) => read(leaseOwners, request),
    get: (request, options) => read(getJob, request, options),
    list: (request, options) => read(listJobs, request, options),
    counts: (request, options) => read(countJobs, request, options),
  };
}
