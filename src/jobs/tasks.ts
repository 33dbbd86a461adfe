import { randomBytes } from 'node:crypto';
import { CarrelError, type ErrorCode } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { createLeaseOwner, isGone } from './lease-owner.ts';
import type { FoundTask, Task, TaskOutcome, TaskStatus, Tasks, TaskView } from './task.ts';
import { type Beginning, createTaskFiles, type Ending, type FileKind } from './task-files.ts';

export interface TasksOptions {
  folder: string;
  log: Logger;
  /** How long a task is kept after its end, at least. */
  keepMs?: number;
  /** How long one may take; then it is given up. */
  runMs?: number;
  /** How long a question to the client stays open. */
  answerMs?: number;
  perOwnerMax?: number;
  allMax?: number;
  /** Of all ends on disk. */
  bytesMax?: number;
  now?: () => number;
}

interface Running {
  beginning: Beginning;
  updatedAt: number;
  message?: string;
  questions: Map<string, { request: object; answer(value: unknown): void }>;
  cancel(): void;
  refuse?: (error: CarrelError) => void;
  timer: NodeJS.Timeout;
}

/** What is counted, without reading files. */
interface Counted {
  owner: string;
  bytes: number;
  endedAt?: number;
}

const pollIntervalMs = 1_000;
const idBytes = 24;
const idPattern = /^[\w-]{32}$/;
const messageCharsMax = 500;
const hourMs = 3_600_000;

export function createTasks(options: TasksOptions): Tasks {
  const { folder, log, keepMs = hourMs, runMs = 24 * hourMs, answerMs = hourMs } = options;
  const { perOwnerMax = 100, allMax = 1_000, bytesMax = 256 * 1024 * 1024, now = Date.now } = options;
  const files = createTaskFiles(folder);
  const process = createLeaseOwner();
  const running = new Map<string, Running>();
  /** Every task of this process that is still kept, and the ends that earlier ones left. */
  const counted = new Map<string, Counted>();
  /** Ends that are not on disk, yet or at all. */
  const ended = new Map<string, { beginning: Beginning; ending: Ending }>();
  const listeners = new Set<(id: string) => void>();
  let questionsAsked = 0;
  let closed = false;
  let prepared: Promise<void> | undefined;

  const changed = (id: string): void => {
    for (const listener of listeners) listener(id);
  };
  const forget = async (id: string): Promise<void> => {
    counted.delete(id);
    ended.delete(id);
    await files.remove(id);
  };

  const lastsMs = (kind: FileKind | undefined): number => (kind === 'task' ? runMs + 2 * keepMs : 2 * keepMs);
  /** Counts what earlier processes left, and removes what nobody can ask for any more. */
  const prepare = async (): Promise<void> => {
    const left = await files.prepare((kind, changedAt) => now() - changedAt > lastsMs(kind));
    for (const { id, bytes, endedAt } of left) counted.set(id, { owner: '', bytes, endedAt });
  };

  const sweep = async (): Promise<void> => {
    const old = [...counted].filter(([, { endedAt }]) => endedAt !== undefined && now() - endedAt > 2 * keepMs);
    await Promise.all(old.map(([id]) => forget(id)));
  };

  const hasRoom = (owner: string): boolean => {
    const all = [...counted.values()];
    const own = all.filter((each) => each.owner === owner);
    const bytes = all.reduce((sum, each) => sum + each.bytes, 0);
    return own.length < perOwnerMax && all.length < allMax && bytes < bytesMax;
  };

  const describe = (id: string, { createdAt }: Beginning, status: TaskStatus, updatedAt: number): TaskView => ({
    taskId: id,
    status,
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
    ttlMs: ttlOf(createdAt, isOver(status) ? updatedAt : now(), keepMs),
    pollIntervalMs,
  });

  const viewRunning = (id: string, task: Running): TaskView => {
    const asks = task.questions.size > 0;
    const view = describe(id, task.beginning, asks ? 'input_required' : 'working', task.updatedAt);
    if (task.message !== undefined) view.statusMessage = task.message;
    if (asks) view.inputRequests = Object.fromEntries([...task.questions].map(([key, { request }]) => [key, request]));
    return view;
  };

  const end = async (id: string, outcome: TaskOutcome): Promise<void> => {
    const task = running.get(id);
    if (task === undefined || closed) return;
    clearTimeout(task.timer);
    const ending = { endedAt: now(), outcome };
    const { owner } = task.beginning;
    // Before the work is forgotten: whoever asks meanwhile must not be told that it was broken off.
    ended.set(id, { beginning: task.beginning, ending });
    running.delete(id);
    try {
      const bytes = await files.writeEnd(id, ending);
      counted.set(id, { owner, bytes, endedAt: ending.endedAt });
      ended.delete(id);
    } catch (error) {
      log.warn('the end of a task was not saved', { error });
      counted.set(id, { owner, bytes: 0, endedAt: ending.endedAt });
    }
    changed(id);
  };

  const update = (id: string, change: (task: Running) => void): void => {
    const task = running.get(id);
    if (task === undefined) return;
    change(task);
    task.updatedAt = now();
    changed(id);
  };

  const follow = (id: string): Task => ({
    id,
    view: () => {
      const task = running.get(id);
      if (task === undefined) throw unknownTask();
      return viewRunning(id, task);
    },
    report: (message) =>
      update(id, (task) => {
        task.message = message.slice(0, messageCharsMax);
      }),
    async lasts(work) {
      const task = running.get(id);
      if (task === undefined || closed) return;
      task.beginning = { ...task.beginning, work };
      await files.replaceBeginning(id, task.beginning);
    },
    ask: (requests) => askClient(id, requests),
    end: (outcome) => end(id, outcome),
  });

  const askClient = async (
    id: string,
    requests: Readonly<Record<string, object>>,
  ): Promise<Record<string, unknown>> => {
    const task = running.get(id);
    if (task === undefined) throw new CarrelError('cancelled', 'The task has ended.');
    const { promise, resolve, reject } = Promise.withResolvers<Record<string, unknown>>();
    const answers: Record<string, unknown> = {};
    const timer = setTimeout(
      () => reject(new CarrelError('not_confirmed', 'Nobody answered the question in time. Nothing was done.')),
      answerMs,
    ).unref();
    update(id, () => {
      for (const [name, request] of Object.entries(requests)) {
        // A key must never stand for another question of the same task.
        questionsAsked += 1;
        const key = `${name}-${questionsAsked}`;
        task.questions.set(key, {
          request,
          answer(value) {
            answers[name] = value;
            if (Object.keys(answers).length === Object.keys(requests).length) resolve(answers);
          },
        });
      }
      task.refuse = reject;
    });
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      update(id, () => task.questions.clear());
    }
  };

  const read = async (id: unknown, owner: string): Promise<{ id: string; beginning: Beginning; ending?: Ending }> => {
    if (typeof id !== 'string' || !idPattern.test(id)) throw unknownTask();
    const kept = ended.get(id);
    const beginning = running.get(id)?.beginning ?? kept?.beginning ?? (await files.readBeginning(id));
    if (beginning === undefined || beginning.owner !== owner) throw unknownTask();
    if (running.has(id)) return { id, beginning };
    const ending = kept?.ending ?? (await files.readEnding(id));
    if (ending === undefined) return { id, beginning };
    if (now() > beginning.createdAt + ttlOf(beginning.createdAt, ending.endedAt, keepMs)) {
      await forget(id);
      throw unknownTask();
    }
    return { id, beginning, ending };
  };

  const endLeft = async (id: string, outcome: TaskOutcome): Promise<void> => {
    if (closed || running.has(id)) return;
    const endedAt = now();
    await files
      .writeEnd(id, { endedAt, outcome })
      .catch((error: unknown) => log.warn('the end of a task was not saved', { error }));
    changed(id);
  };

  const get = async (given: unknown, owner: string): Promise<FoundTask> => {
    const { id, beginning, ending } = await read(given, owner);
    const { tool, work, createdAt } = beginning;
    const live = running.get(id);
    if (live) return { view: viewRunning(id, live), tool };
    if (ending) {
      const { status, ...outcome } = ending.outcome;
      return { view: { ...describe(id, beginning, status, ending.endedAt), ...outcome }, tool };
    }
    const overdue = now() - createdAt > runMs;
    if (work !== undefined && !overdue) {
      return { view: describe(id, beginning, 'working', createdAt), tool, leftWork: work };
    }
    if (!overdue && !isGone(beginning.process) && beginning.process !== process) {
      return { view: describe(id, beginning, 'working', createdAt), tool };
    }
    await endLeft(id, interrupted);
    return { view: { ...describe(id, beginning, 'failed', now()), error: interrupted.error }, tool };
  };

  return {
    async start({ owner, tool, cancel, work }) {
      if (closed) return undefined;
      try {
        prepared ??= prepare();
        await prepared;
        await sweep();
        if (!hasRoom(owner)) return undefined;
        const id = randomBytes(idBytes).toString('base64url');
        // Counted before it is written, or many at once would all find room.
        counted.set(id, { owner, bytes: 0 });
        const createdAt = now();
        const beginning: Beginning = { owner, tool, createdAt, process, ...(work === undefined ? {} : { work }) };
        try {
          await files.writeBeginning(id, beginning);
        } catch (error) {
          await forget(id);
          throw error;
        }
        const giveUp = (): void => {
          cancel();
          void end(id, overdueOutcome);
        };
        const timer = setTimeout(giveUp, runMs).unref();
        running.set(id, { beginning, updatedAt: createdAt, questions: new Map(), cancel, timer });
        return follow(id);
      } catch (error) {
        prepared = undefined;
        log.warn('a task could not be kept, so its caller waits for the answer', { error });
        return undefined;
      }
    },
    get,
    async answer(given, owner, answers) {
      const { id } = await read(given, owner);
      update(id, (task) => {
        for (const [key, value] of Object.entries(answers)) {
          const question = task.questions.get(key);
          task.questions.delete(key);
          question?.answer(value);
        }
      });
    },
    async cancel(given, owner) {
      const { id, beginning, ending } = await read(given, owner);
      const live = running.get(id);
      if (live) {
        await end(id, { status: 'cancelled' });
        live.cancel();
        live.refuse?.(new CarrelError('cancelled', 'The task was cancelled.'));
      } else if (ending === undefined) await endLeft(id, { status: 'cancelled' });
      const view = describe(id, beginning, 'cancelled', now());
      const left = ending === undefined && beginning.work !== undefined ? { leftWork: beginning.work } : {};
      return { view, tool: beginning.tool, ...left };
    },
    endLeft,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      closed = true;
      for (const { timer } of running.values()) clearTimeout(timer);
    },
  };
}

/** Kept for one to two times `keepMs` after its end, so that what was promised while it ran still holds. */
function ttlOf(createdAt: number, until: number, keepMs: number): number {
  return (Math.floor(Math.max(0, until - createdAt) / keepMs) + 2) * keepMs;
}

function isOver(status: TaskStatus): boolean {
  return status !== 'working' && status !== 'input_required';
}

function unknownTask(): CarrelError {
  return new CarrelError('task_not_found', 'No such task: it never existed, or it ended more than an hour ago.');
}

const serverErrorCode = -32_000;

const interrupted = {
  status: 'failed',
  error: {
    code: serverErrorCode,
    message: 'The server was stopped while this ran. Nothing is known of its outcome; look, and call the tool again.',
    data: { code: 'interrupted' satisfies ErrorCode },
  },
} as const satisfies TaskOutcome;

const overdueOutcome = {
  status: 'failed',
  error: {
    code: serverErrorCode,
    message: 'This took too long and was given up.',
    data: { code: 'task_expired' satisfies ErrorCode },
  },
} as const satisfies TaskOutcome;
