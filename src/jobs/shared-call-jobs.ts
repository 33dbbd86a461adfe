import type { SharedStore } from '../base/shared-store.ts';
import { type CallJob, type CallJobs, type CallJobView, jobNotFound } from './call-jobs.ts';

const kind = 'call-job';
/** What is only shown is written at most so often. */
const soonMs = 500;
/** A job of which nothing was heard for so long was lost with its process. */
const silentMaxMs = 60_000;
const renewMs = 15_000;
const keepMs = 3_600_000;

interface Note {
  owner: string;
  view: CallJobView;
  /** When it was written. */
  at: number;
}

/** Jobs of this process, of which the others on the same database can tell, too. */
export function createSharedCallJobs(own: CallJobs, shared: () => Promise<SharedStore | undefined>): CallJobs {
  const follow = (job: CallJob, owner: string): CallJob => {
    let timer: NodeJS.Timeout | undefined;
    let isSoon = false;
    let written: Promise<void> = Promise.resolve();
    const write = async (): Promise<void> => {
      const view = own.get(job.id, owner);
      const note: Note = { owner, view, at: Date.now() };
      const content = Buffer.from(JSON.stringify(note));
      await (await shared())?.put({ kind, id: job.id, part: 0 }, content, keepMs);
    };
    const now = (): void => {
      clearTimeout(timer);
      isSoon = false;
      // One after the other: the last is how it stands. What was not written is written with the next.
      written = written.then(write).catch(() => {});
      timer = setTimeout(now, renewMs).unref();
    };
    const soon = (): void => {
      if (isSoon) return;
      isSoon = true;
      clearTimeout(timer);
      timer = setTimeout(now, soonMs).unref();
    };
    const ended = (): void => {
      now();
      clearTimeout(timer);
    };
    now();
    return {
      id: job.id,
      known: written,
      begin: () => {
        job.begin();
        soon();
      },
      report: (progress) => {
        job.report(progress);
        soon();
      },
      finish: (result) => {
        job.finish(result);
        ended();
      },
      fail: (error) => {
        job.fail(error);
        ended();
      },
      cancelled: () => {
        job.cancelled();
        ended();
      },
    };
  };
  return {
    start: (owner, first, state) => follow(own.start(owner, first, state), owner),
    get: own.get,
    async find(id, owner) {
      try {
        return own.get(id, owner);
      } catch (error) {
        const bytes = await (await shared())?.read({ kind, id, part: 0 });
        if (bytes === undefined) throw error;
        const { view, at, ...note } = JSON.parse(bytes.toString()) as Note;
        if (note.owner !== owner) throw jobNotFound();
        const isOver = view.state !== 'running' && view.state !== 'queued';
        return isOver || Date.now() - at < silentMaxMs ? view : { ...view, state: 'failed', error: interrupted };
      }
    },
  };
}

const interrupted = {
  code: 'interrupted',
  message: 'The server was stopped while this ran. Nothing is known of its outcome; call the tool again.',
};
