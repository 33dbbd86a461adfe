import { createHash, randomBytes } from 'node:crypto';
import { CarrelError, type ErrorCode } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { SharedStore } from '../base/shared-store.ts';
import { createLeaseOwner, isGone } from './lease-owner.ts';
import type { FoundTask, Task, TaskOutcome, TaskStatus, Tasks, TaskView } from './task.ts';
import { createTaskFiles } from './task-files.ts';
import { createTaskRows } from './task-rows.ts';
import { type Beginning, type Ending, lookMs, type StoredTask, stateEveryMs, type TaskState } from './task-store.ts';

export interface TasksOptions {
  folder: string;
  /** Where tasks are kept instead, if there is one: so that any process can tell of them and end them. */
  shared?: SharedStore | undefined;
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

const pollIntervalMs = 1_000;
const idBytes = 19;
/** The beginning of an id: whose task it is, so that tasks are counted without being read. */
const markChars = 6;
const idPattern = /^[\w-]{32}$/;
const messageCharsMax = 500;
/** What is only shown is written at most so often. */
const stateSoonMs = 500;
const hourMs = 3_600_000;

export function createTasks(options: TasksOptions): Tasks {
  const { folder, log, keepMs = hourMs, runMs = 24 * hourMs, answerMs = hourMs } = options;
  const { perOwnerMax = 100, allMax = 1_000, bytesMax = 256 * 1024 * 1024, now = Date.now } = options;
  const store =
    options.shared === undefined
      ? createTaskFiles(folder, { lastsMs: { task: runMs + 2 * keepMs, end: 2 * keepMs }, now })
      : createTaskRows(options.shared, { runMs, keepMs });
  const { between } = store;
  const process = createLeaseOwner();
  const running = new Map<string, Running>();
  /** Every task of this process that is still kept, and the ends that earlier ones left. */
  const counted = new Map<string, StoredTask>();
  const left = new Set<string>();
  /** Ends that are not on disk, yet or at all. */
  const ended = new Map<string, { beginning: Beginning; ending: Ending }>();
  const listeners = new Set<(id: string) => void>();
  let questionsAsked = 0;
  let closed = false;
  let prepared: Promise<void> | undefined;

  const changed = (id: string): void => {
    for (const listener of listeners) listener(id);
    between?.tell(id);
  };
  const forget = async (id: string): Promise<void> => {
    counted.delete(id);
    left.delete(id);
    ended.delete(id);
    await store.remove(id);
  };

  /** Counts what earlier processes left. */
  const prepare = async (): Promise<void> => {
    for (const each of await store.prepare()) {
      counted.set(each.id, each);
      left.add(each.id);
    }
  };

  const sweep = async (): Promise<void> => {
    const old = [...counted].filter(([, { endedAt }]) => endedAt !== undefined && now() - endedAt > 2 * keepMs);
    await Promise.all(old.map(([id]) => forget(id)));
  };

  const hasRoom = (owner: string, elsewhere: readonly StoredTask[]): boolean => {
    const all = [...counted.values(), ...elsewhere.filter(({ id }) => !counted.has(id))];
    const mark = markOf(owner);
    // What an earlier process left counts for all, but is held against nobody.
    const own = all.filter(({ id }) => !left.has(id) && id.startsWith(mark));
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

  const viewState = (id: string, beginning: Beginning, { updatedAt, message, questions }: TaskState): TaskView => {
    const asks = Object.keys(questions).length > 0;
    const view = describe(id, beginning, asks ? 'input_required' : 'working', updatedAt);
    if (message !== undefined) view.statusMessage = message;
    if (asks) view.inputRequests = questions;
    return view;
  };
  const viewRunning = (id: string, task: Running): TaskView => viewState(id, task.beginning, stateOf(task));

  /** Tells other processes how a task stands. */
  const saveState = async (id: string): Promise<void> => {
    const task = running.get(id);
    if (between === undefined || task === undefined || closed) return;
    await between.writeState(id, stateOf(task));
    // It ended meanwhile, and without a state nobody takes it for running.
    if (!running.has(id)) await between.dropState(id);
  };
  const saving = new Map<string, NodeJS.Timeout>();
  const saveSoon = (id: string, ms: number): void => {
    if (between === undefined || saving.has(id)) return;
    const save = (): void => {
      saving.delete(id);
      saveState(id)
        .then(() => between.tell(id))
        .catch((error: unknown) => log.debug('the state of a task was not saved', { error }));
    };
    saving.set(id, setTimeout(save, ms).unref());
  };

  /** What other processes want of the tasks that run here. */
  const lookAround = async (): Promise<void> => {
    if (between === undefined) return;
    // Ends that the database did not take: until it does, other processes know nothing of them.
    for (const [id, { ending }] of ended) {
      await store.writeEnd(id, ending);
      ended.delete(id);
      await between.dropState(id);
    }
    if (running.size === 0) return;
    const { ended: stopped, answers } = await between.look([...running.keys()]);
    for (const { id, key, value } of answers) giveAnswers(id, { [key]: value });
    for (const id of stopped) {
      const task = running.get(id);
      if (task === undefined) continue;
      clearTimeout(task.timer);
      running.delete(id);
      counted.set(id, { id, bytes: 0, endedAt: now() });
      stop(task);
      await between.dropState(id);
    }
  };
  const look = (): void =>
    void lookAround().catch((error: unknown) => log.debug('tasks could not be looked at', { error }));
  const looking = between && setInterval(look, lookMs).unref();
  const renewing =
    between &&
    setInterval(() => {
      for (const id of running.keys()) saveSoon(id, 0);
    }, stateEveryMs).unref();
  between?.onTold((id) => {
    if (running.has(id)) look();
    for (const listener of listeners) listener(id);
  });

  const stop = (task: Running): void => {
    task.cancel();
    task.refuse?.(new CarrelError('cancelled', 'The task was cancelled.'));
  };

  const end = async (id: string, outcome: TaskOutcome): Promise<void> => {
    const task = running.get(id);
    if (task === undefined || closed) return;
    clearTimeout(task.timer);
    const ending = { endedAt: now(), outcome };
    // Before the work is forgotten: whoever asks meanwhile must not be told that it was broken off.
    ended.set(id, { beginning: task.beginning, ending });
    running.delete(id);
    try {
      const bytes = await store.writeEnd(id, ending);
      counted.set(id, { id, bytes, endedAt: ending.endedAt });
      ended.delete(id);
      await between?.dropState(id).catch(() => {});
    } catch (error) {
      log.warn('the end of a task was not saved', { error });
      counted.set(id, { id, bytes: 0, endedAt: ending.endedAt });
    }
    changed(id);
  };

  const update = (id: string, change: (task: Running) => void): void => {
    const task = running.get(id);
    if (task === undefined) return;
    change(task);
    task.updatedAt = now();
    for (const listener of listeners) listener(id);
    saveSoon(id, task.questions.size > 0 ? 0 : stateSoonMs);
  };

  const giveAnswers = (id: string, answers: Readonly<Record<string, unknown>>): void =>
    update(id, (task) => {
      for (const [key, value] of Object.entries(answers)) {
        const question = task.questions.get(key);
        task.questions.delete(key);
        question?.answer(value);
      }
    });

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
      await store.replaceBeginning(id, task.beginning);
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
    const beginning = running.get(id)?.beginning ?? kept?.beginning ?? (await store.readBeginning(id));
    if (beginning === undefined || beginning.owner !== owner) throw unknownTask();
    if (running.has(id)) return { id, beginning };
    const ending = kept?.ending ?? (await store.readEnding(id));
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
    await store
      .writeEnd(id, { endedAt, outcome })
      .catch((error: unknown) => log.warn('the end of a task was not saved', { error }));
    changed(id);
  };

  const get = async (given: unknown, owner: string): Promise<FoundTask> => {
    // Another process may have ended it just now; while nobody can tell, it goes on.
    if (between) await lookAround().catch(() => {});
    const { id, beginning, ending } = await read(given, owner);
    const { tool, work, createdAt } = beginning;
    const live = running.get(id);
    if (live) return { view: viewRunning(id, live), tool };
    if (ending) {
      const { status, ...outcome } = ending.outcome;
      return { view: { ...describe(id, beginning, status, ending.endedAt), ...outcome }, tool };
    }
    const overdue = now() - createdAt > runMs;
    const isOwn = beginning.process === process;
    const state = isOwn ? undefined : await between?.readState(id);
    const view = viewState(id, beginning, state ?? { updatedAt: createdAt, questions: {} });
    if (work !== undefined && !overdue) return { view, tool, leftWork: work };
    const isKnownToRun = between === undefined || state !== undefined;
    if (!overdue && isKnownToRun && !isGone(beginning.process) && !isOwn) return { view, tool };
    await endLeft(id, interrupted);
    // It may have ended by itself just before.
    const { endedAt, outcome } = (await store.readEnding(id)) ?? { endedAt: now(), outcome: interrupted };
    const { status, ...rest } = outcome;
    return { view: { ...describe(id, beginning, status, endedAt), ...rest }, tool };
  };

  return {
    async start({ owner, tool, cancel, work }) {
      if (closed) return undefined;
      try {
        prepared ??= prepare();
        await prepared;
        await sweep();
        if (!hasRoom(owner, (await between?.all()) ?? [])) return undefined;
        const id = `${markOf(owner)}${randomBytes(idBytes).toString('base64url')}`;
        // Counted before it is written, or many at once would all find room.
        counted.set(id, { id, bytes: 0 });
        const createdAt = now();
        const beginning: Beginning = { owner, tool, createdAt, process, ...(work === undefined ? {} : { work }) };
        try {
          await store.writeBeginning(id, beginning);
          await between?.writeState(id, { updatedAt: createdAt, questions: {} });
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
      if (running.has(id) || between === undefined) return giveAnswers(id, answers);
      const { questions = {} } = (await between.readState(id)) ?? {};
      for (const [key, value] of Object.entries(answers)) {
        if (Object.hasOwn(questions, key)) await between.leaveAnswer(id, key, value);
      }
      between.tell(id);
    },
    async cancel(given, owner) {
      const { id, beginning, ending } = await read(given, owner);
      const live = running.get(id);
      if (live) {
        await end(id, { status: 'cancelled' });
        stop(live);
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
    async close() {
      closed = true;
      clearInterval(looking);
      clearInterval(renewing);
      for (const each of saving.values()) clearTimeout(each);
      for (const { timer } of running.values()) clearTimeout(timer);
      // Others need not wait to see that nobody works on them any more.
      await Promise.allSettled([...running.keys()].map((id) => between?.dropState(id)));
    },
  };
}

/** Everybody may know it who has the id; with the rest of it, it is never the same for two tasks. */
function markOf(owner: string): string {
  return createHash('sha256').update(owner).digest('base64url').slice(0, markChars);
}

function stateOf({ updatedAt, message, questions }: Running): TaskState {
  return {
    updatedAt,
    ...(message === undefined ? {} : { message }),
    questions: Object.fromEntries([...questions].map(([key, { request }]) => [key, request])),
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
