import { createHash, randomBytes } from 'node:crypto';
import { CarrelError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { ListedPart, SharedStore } from '../base/shared-store.ts';
import { createLeaseOwner, hasExited } from './lease-owner.ts';
import { createFileRecords, createSharedRecords, createStateWriter, type StateWriter } from './records.ts';
import type { FoundTask, NewTask, Task, TaskOutcome, Tasks } from './task.ts';
import { createTaskQuestions, type TaskQuestions } from './task-questions.ts';
import {
  createTaskViews,
  interrupted,
  overdue,
  type TaskEnd,
  type TaskStart,
  type TaskState,
  unknownTask,
} from './task-view.ts';

export interface TasksOptions {
  folder: string;
  /** Replaces the folder, so that any process that uses the database can report and end tasks. */
  shared?: SharedStore | undefined;
  log: Logger;
  /** Min time for which an ended task can be read. */
  keepMs?: number;
  /** Max run time of a task. */
  runMs?: number;
  /** How long to wait for the client's answer to a question. */
  answerMs?: number;
  now?: () => number;
  perOwnerMax?: number | undefined;
  allMax?: number | undefined;
  /** Max bytes of all records. */
  bytesMax?: number | undefined;
}

interface RunningTask {
  taskStart: TaskStart;
  updatedAt: number;
  message?: string;
  questions: TaskQuestions;
  /** Writes the state for other processes. Only with a shared store. */
  writer: StateWriter | undefined;
  cancel(): void;
  timer: NodeJS.Timeout;
}

/** File names of the first two parts. The other parts (state and answers) exist only in the database. */
const partNames = ['task', 'end'];
const [startPart, endPart, statePart] = [0, 1, 2];
/** An answer that another process received is stored as part `firstAnswerPart` + question number. */
const firstAnswerPart = 10;

const idBytes = 19;
const idPattern = /^[\w-]{32}$/;
/** Length of the owner's hash at the start of each id, by which an owner's tasks are counted without reading them. */
const ownerHashChars = 6;
const messageCharsMax = 500;
const hourMs = 3_600_000;

/** How often to check for cancellations and answers that other processes received. */
const pollMs = 2_000;
/** How often a process writes the state of its tasks. The state expires later, in case the process is slow or disconnected. */
const stateEveryMs = 20_000;
const stateTtlMs = 6 * stateEveryMs;

export function createTasks(options: TasksOptions): Tasks {
  const { folder, shared, log, keepMs = hourMs, runMs = 24 * hourMs, answerMs = hourMs } = options;
  const { now = Date.now } = options;
  const records = shared ? createSharedRecords('task', shared) : createFileRecords(folder, partNames, now);
  const thisProcess = createLeaseOwner();
  const running = new Map<string, RunningTask>();
  const views = createTaskViews({ keepMs, now });
  /** Ended tasks whose outcome is not stored yet. */
  const unsaved = new Map<string, { taskStart: TaskStart; taskEnd: TaskEnd }>();
  const listeners = new Set<(id: string) => void>();
  const ttlMs = runMs + 2 * keepMs;
  /** Ids of task files left by earlier processes. They count towards the total limit only. */
  let leftovers: Set<string> | undefined;
  let closed = false;
  let starting: Promise<unknown> = Promise.resolve();

  const announce = (id: string): void => {
    for (const listener of listeners) listener(id);
    shared?.notify({ about: 'task', id });
  };

  /** Writes the outcome. Only the first one counts, across all processes. */
  const writeEnd = async (id: string, taskEnd: TaskEnd): Promise<void> => {
    if (await records.add(id, endPart, taskEnd, 2 * keepMs)) await records.touch(id, 2 * keepMs);
    if (shared) await records.remove(id, [statePart]);
    unsaved.delete(id);
  };
  const tryWriteEnd = (id: string, taskEnd: TaskEnd): Promise<void> =>
    writeEnd(id, taskEnd).catch((error: unknown) => log.warn('could not save the end of a task', { error }));

  const release = async (id: string, { timer, writer }: RunningTask): Promise<void> => {
    running.delete(id);
    clearTimeout(timer);
    await writer?.stop();
  };

  const applyChanges = async (): Promise<void> => {
    // Retries outcomes that could not be written: other processes see them only in the database.
    for (const [id, { taskEnd }] of unsaved) await writeEnd(id, taskEnd);
    const parts = running.size === 0 ? [] : await records.list([...running.keys()]);
    for (const { id, part } of parts) {
      const task = running.get(id);
      if (task && part === endPart) {
        await release(id, task);
        stop(task);
        await records.remove(id, [statePart]);
      } else if (part >= firstAnswerPart) {
        const answer = await records.read<{ key: string; value: unknown }>(id, part);
        await records.remove(id, [part]);
        if (answer) deliverAnswers(id, { [answer.key]: answer.value });
      }
    }
  };
  const poll = (): void =>
    void applyChanges().catch((error: unknown) => log.debug('could not check tasks for changes', { error }));
  const polling = shared && setInterval(poll, pollMs).unref();
  shared?.onNotice((notice) => {
    if (notice.about !== 'task') return;
    if (running.has(notice.id)) poll();
    for (const listener of listeners) listener(notice.id);
  });

  const stop = (task: RunningTask): void => {
    task.cancel();
    task.questions.reject(new CarrelError('cancelled', 'The task was cancelled.'));
  };

  const end = async (id: string, outcome: TaskOutcome): Promise<void> => {
    const task = running.get(id);
    if (task === undefined || closed) return;
    const taskEnd = { endedAt: now(), outcome };
    // Set before the running task is removed, so that a concurrent reader does not see it as interrupted.
    unsaved.set(id, { taskStart: task.taskStart, taskEnd });
    await release(id, task);
    await tryWriteEnd(id, taskEnd);
    announce(id);
  };

  const onUpdate = (id: string): void => {
    const task = running.get(id);
    if (task === undefined) return;
    task.updatedAt = now();
    for (const listener of listeners) listener(id);
    if (Object.keys(task.questions.open()).length > 0) void task.writer?.writeNow();
    else task.writer?.writeSoon();
  };

  const deliverAnswers = (id: string, answers: Readonly<Record<string, unknown>>): void =>
    running.get(id)?.questions.answer(answers);

  const createHandle = (id: string): Task => ({
    id,
    view: () => {
      const task = running.get(id);
      if (task === undefined) throw unknownTask();
      return views.running(id, task.taskStart, stateOf(task));
    },
    report(message) {
      const task = running.get(id);
      if (task === undefined) return;
      task.message = message.slice(0, messageCharsMax);
      onUpdate(id);
    },
    async continueAs(work) {
      const task = running.get(id);
      if (task === undefined || closed) return;
      task.taskStart = { ...task.taskStart, work };
      await records.put(id, startPart, task.taskStart, ttlMs);
    },
    async ask(requests) {
      const task = running.get(id);
      if (task === undefined) throw new CarrelError('cancelled', 'The task has ended.');
      return task.questions.ask(requests);
    },
    end: (outcome) => end(id, outcome),
  });

  const read = async (id: unknown, owner: string): Promise<{ id: string; taskStart: TaskStart; taskEnd?: TaskEnd }> => {
    if (typeof id !== 'string' || !idPattern.test(id)) throw unknownTask();
    const cached = unsaved.get(id);
    const taskStart = running.get(id)?.taskStart ?? cached?.taskStart ?? (await records.read<TaskStart>(id, startPart));
    if (taskStart === undefined || taskStart.owner !== owner) throw unknownTask();
    if (running.has(id)) return { id, taskStart };
    const taskEnd = cached?.taskEnd ?? (await records.read<TaskEnd>(id, endPart));
    if (taskEnd === undefined) return { id, taskStart };
    if (views.isExpired(taskStart, taskEnd)) {
      unsaved.delete(id);
      await records.remove(id);
      throw unknownTask();
    }
    return { id, taskStart, taskEnd };
  };

  const endAbandoned = async (id: string, outcome: TaskOutcome): Promise<void> => {
    if (closed || running.has(id)) return;
    await tryWriteEnd(id, { endedAt: now(), outcome });
    announce(id);
  };

  const get = async (taskId: unknown, owner: string): Promise<FoundTask> => {
    // Another process may have just ended the task. If the database can't be read, the task counts as running.
    if (shared) await applyChanges().catch(() => {});
    const { id, taskStart, taskEnd } = await read(taskId, owner);
    const { tool, work, createdAt } = taskStart;
    const task = running.get(id);
    if (task) return { view: views.running(id, taskStart, stateOf(task)), tool };
    if (taskEnd) return { view: views.ended(id, taskStart, taskEnd), tool };
    const isOverdue = now() - createdAt > runMs;
    const isOurs = taskStart.process === thisProcess;
    const state = isOurs || !shared ? undefined : await records.read<TaskState>(id, statePart);
    const view = views.running(id, taskStart, state ?? { updatedAt: createdAt, questions: {} });
    if (work !== undefined && !isOverdue) return { view, tool, unfinishedWork: work };
    const hasState = shared === undefined || state !== undefined;
    if (!isOverdue && hasState && !hasExited(taskStart.process) && !isOurs) return { view, tool };
    const outcome = work === undefined ? interrupted : overdue;
    await endAbandoned(id, outcome);
    // If another process has just ended the task, its outcome counts.
    const stored = (await records.read<TaskEnd>(id, endPart)) ?? { endedAt: now(), outcome };
    return { view: views.ended(id, taskStart, stored), tool };
  };

  const begin = async ({ owner, tool, cancel, work }: NewTask): Promise<Task | undefined> => {
    const parts = await records.list();
    leftovers ??= new Set(shared ? [] : parts.map((part) => part.id));
    if (closed || !isBelowLimits(parts, owner, leftovers, options)) return undefined;
    const id = `${hashOf(owner)}${randomBytes(idBytes).toString('base64url')}`;
    const createdAt = now();
    const taskStart: TaskStart = {
      owner,
      tool,
      createdAt,
      process: thisProcess,
      ...(work === undefined ? {} : { work }),
    };
    await records.add(id, startPart, taskStart, ttlMs);
    const task: RunningTask = {
      taskStart,
      updatedAt: createdAt,
      questions: createTaskQuestions({ answerMs, onChange: () => onUpdate(id) }),
      writer:
        shared &&
        createStateWriter(async () => {
          await records.put(id, statePart, stateOf(task), stateTtlMs);
          shared.notify({ about: 'task', id });
        }, stateEveryMs),
      cancel,
      timer: setTimeout(() => {
        cancel();
        void end(id, overdue);
      }, runMs).unref(),
    };
    running.set(id, task);
    await task.writer?.writeNow();
    return createHandle(id);
  };

  return {
    // Starts tasks one at a time. Otherwise several could pass the limit check at the same time.
    start(task) {
      const started = starting
        .then(() => begin(task))
        .catch((error: unknown) => {
          log.warn('could not store a task; the call runs without one', { error });
          return undefined;
        });
      starting = started;
      return started;
    },
    get,
    async answer(taskId, owner, answers) {
      const { id } = await read(taskId, owner);
      if (running.has(id) || shared === undefined) return deliverAnswers(id, answers);
      const { questions = {} } = (await records.read<TaskState>(id, statePart)) ?? {};
      for (const [key, value] of Object.entries(answers)) {
        if (!Object.hasOwn(questions, key)) continue;
        const number = Number(/-(\d{1,9})$/.exec(key)?.[1]);
        await records.add(id, firstAnswerPart + number, { key, value }, ttlMs);
      }
      shared.notify({ about: 'task', id });
    },
    async cancel(taskId, owner) {
      const { id, taskStart, taskEnd } = await read(taskId, owner);
      const task = running.get(id);
      if (task) {
        await end(id, { status: 'cancelled' });
        stop(task);
      } else if (taskEnd === undefined) await endAbandoned(id, { status: 'cancelled' });
      const view = views.ended(id, taskStart, { endedAt: now(), outcome: { status: 'cancelled' } });
      const { tool, work } = taskStart;
      return { view, tool, ...(taskEnd === undefined && work !== undefined ? { unfinishedWork: work } : {}) };
    },
    endAbandoned,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      closed = true;
      clearInterval(polling);
      for (const { timer, writer } of running.values()) {
        clearTimeout(timer);
        await writer?.stop();
      }
      // Removes the state, so that other processes see immediately that these tasks no longer run.
      if (shared) await Promise.allSettled([...running.keys()].map((id) => records.remove(id, [statePart])));
    },
  };
}

function stateOf({ updatedAt, message, questions }: RunningTask): TaskState {
  return { updatedAt, ...(message === undefined ? {} : { message }), questions: questions.open() };
}

function isBelowLimits(
  parts: readonly ListedPart[],
  owner: string,
  leftovers: ReadonlySet<string>,
  { perOwnerMax = 100, allMax = 1_000, bytesMax = 256 * 1024 * 1024 }: TasksOptions,
): boolean {
  const ids = [...new Set(parts.map(({ id }) => id))];
  const ofOwner = ids.filter((id) => !leftovers.has(id) && id.startsWith(hashOf(owner)));
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  return ofOwner.length < perOwnerMax && ids.length < allMax && bytes < bytesMax;
}

/** Returns a short hash, so that ids do not reveal the owner. */
function hashOf(owner: string): string {
  return createHash('sha256').update(owner).digest('base64url').slice(0, ownerHashChars);
}
