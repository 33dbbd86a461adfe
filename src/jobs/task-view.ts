import { CarrelError, type ErrorCode } from '../base/errors.ts';
import type { TaskOutcome, TaskStatus, TaskView } from './task.ts';

export interface TaskStart {
  owner: string;
  tool: string;
  createdAt: number;
  /** The process that runs the task; see lease-owner.ts. */
  process: string;
  work?: string;
}

export interface TaskEnd {
  endedAt: number;
  outcome: TaskOutcome;
}

/** The state of a running task, for other processes. */
export interface TaskState {
  updatedAt: number;
  message?: string;
  questions: Record<string, object>;
}

/** Converts tasks to the form that clients see. `keepMs`: min time for which an ended task can be read. */
export function createTaskViews({ keepMs, now }: { keepMs: number; now: () => number }) {
  /**
   * Returns the TTL of a task that runs until `until`: a multiple of `keepMs`, so that it never shrinks between polls. The task
   * expires one to two `keepMs` after it ends.
   */
  const ttlOf = (createdAt: number, until: number): number =>
    (Math.floor(Math.max(0, until - createdAt) / keepMs) + 2) * keepMs;
  const describe = (id: string, createdAt: number, status: TaskStatus, updatedAt: number, until: number): TaskView => ({
    taskId: id,
    status,
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
    ttlMs: ttlOf(createdAt, until),
    pollIntervalMs: 1_000,
  });

  return {
    running(id: string, { createdAt }: TaskStart, { updatedAt, message, questions }: TaskState): TaskView {
      const hasQuestions = Object.keys(questions).length > 0;
      return {
        ...describe(id, createdAt, hasQuestions ? 'input_required' : 'working', updatedAt, now()),
        ...(message === undefined ? {} : { statusMessage: message }),
        ...(hasQuestions ? { inputRequests: questions } : {}),
      };
    },
    ended(id: string, { createdAt }: TaskStart, { endedAt, outcome }: TaskEnd): TaskView {
      const { status, ...rest } = outcome;
      return { ...describe(id, createdAt, status, endedAt, endedAt), ...rest };
    },
    /** True if the TTL reported to clients has passed. */
    isExpired: ({ createdAt }: TaskStart, { endedAt }: TaskEnd): boolean =>
      now() > createdAt + ttlOf(createdAt, endedAt),
  };
}

export function unknownTask(): CarrelError {
  return new CarrelError(
    'task_not_found',
    'No such task: it never existed, or its result was removed, at the latest an hour after it ended.',
  );
}

export const interrupted = failure(
  'interrupted',
  'The server was stopped while this ran, and its outcome is unknown. Check the result, then call the tool again if needed.',
);

export const overdue = failure(
  'task_expired',
  'The task took too long and was stopped. Call the tool again, if possible with less to do.',
);

function failure(code: ErrorCode, message: string): TaskOutcome {
  return { status: 'failed', error: { code: -32_000, message, data: { code } } };
}
