import { CarrelError, type ErrorCode } from '../base/errors.ts';
import type { TaskOutcome, TaskStatus, TaskView } from './task.ts';
import type { Beginning, Ending, TaskState } from './task-store.ts';

/** Tasks as clients see them. */
export interface TaskViews {
  running(id: string, beginning: Beginning, state: TaskState): TaskView;
  ended(id: string, beginning: Beginning, ending: Ending): TaskView;
  /** Whether nobody was promised that it would be there any longer. */
  isExpired(beginning: Beginning, ending: Ending): boolean;
}

const pollIntervalMs = 1_000;

/** `keepMs`: how long a task is kept after its end, at least. */
export function createTaskViews({ keepMs, now }: { keepMs: number; now: () => number }): TaskViews {
  const describe = (
    id: string,
    { createdAt }: Beginning,
    { status, updatedAt, until }: { status: TaskStatus; updatedAt: number; until: number },
  ): TaskView => ({
    taskId: id,
    status,
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
    ttlMs: ttlOf(createdAt, until),
    pollIntervalMs,
  });
  /** Kept for one to two times `keepMs` after its end, so that what was promised while it ran still holds. */
  const ttlOf = (createdAt: number, until: number): number =>
    (Math.floor(Math.max(0, until - createdAt) / keepMs) + 2) * keepMs;

  return {
    running(id, beginning, { updatedAt, message, questions }) {
      const asks = Object.keys(questions).length > 0;
      return {
        ...describe(id, beginning, { status: asks ? 'input_required' : 'working', updatedAt, until: now() }),
        ...(message === undefined ? {} : { statusMessage: message }),
        ...(asks ? { inputRequests: questions } : {}),
      };
    },
    ended(id, beginning, { endedAt, outcome }) {
      const { status, ...rest } = outcome;
      return { ...describe(id, beginning, { status, updatedAt: endedAt, until: endedAt }), ...rest };
    },
    isExpired: ({ createdAt }, { endedAt }) => now() > createdAt + ttlOf(createdAt, endedAt),
  };
}

export function unknownTask(): CarrelError {
  return new CarrelError('task_not_found', 'No such task: it never existed, or it ended more than an hour ago.');
}

const serverErrorCode = -32_000;

export const interrupted = failure(
  'interrupted',
  'The server was stopped while this ran. Nothing is known of its outcome; look, and call the tool again.',
);

export const overdue = failure('task_expired', 'This took too long and was given up.');

function failure(code: ErrorCode, message: string): TaskOutcome {
  return { status: 'failed', error: { code: serverErrorCode, message, data: { code } } };
}
