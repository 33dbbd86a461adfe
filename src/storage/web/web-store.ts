import { reads, type StoreOf, writes } from '../store-operations.ts';
import { leaseHost, releaseHost, renewHost } from './hosts.ts';
import { nextPages, pagesByUrl, retriedPages, savePages, sourcePages } from './pages.ts';
import { claimRun, endRun, renewRun } from './runs.ts';
import { addSource, listSources, pauseSource, removeSource, startDue, startSource } from './sources.ts';

/** Web sources, their pages and hosts. A run is a job of kind `crawl`; only the process with its lease can save results. */
export type WebStore = StoreOf<typeof webOperations>;

export const webOperations = {
  ...reads({ list: listSources, pages: nextPages, byUrl: pagesByUrl, retried: retriedPages, overview: sourcePages }),
  ...writes({
    add: addSource,
    start: startSource,
    startDue,
    pause: pauseSource,
    remove: removeSource,
    claim: claimRun,
    renew: renewRun,
    end: endRun,
    save: savePages,
    leaseHost,
    renewHost,
    releaseHost,
  }),
};
