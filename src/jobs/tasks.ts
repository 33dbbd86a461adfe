import { randomBytes } from 'node:crypto';
import { CarrelError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { SharedStore } from '../base/shared-store.ts';
import { createLeaseOwner, isGone } from './lease-owner.ts';
import type { FoundTask, Task, TaskOutcome, Tasks } from './task.ts';
import { createTaskFiles } from './task-files.ts';
import { createTaskQuestions, type TaskQuestions } from './task-questions.ts';
import { createTaskRoom, markOf, type TaskRoomLimits } from './task-room.ts';
import { createTaskRows } from './task-rows.ts';
import { type Beginning, type Ending, lookMs, stateEveryMs, type TaskState } from './task-store.ts';
import { createTaskViews, interrupted, overdue, unknownTask } from './task-view.ts';

export interface TasksOptions extends TaskRoomLimits {
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
  now?: () => number;
}

interface Running {
  beginning: Beginning;
  updatedAt: number;
  message?: string;
  questions: TaskQuestions;
  cancel(): void;
  timer: NodeJS.Timeout;
}

const idBytes = 19;
const idPattern = /^[\w-]{32}$/;
const messageCharsMax = 500;
/** What is only shown is written at most so often. */
const stateSoonMs = 500;
const hourMs = 3_600_000;

export function createTasks(options: TasksOptions): Tasks {
  const { folder, log, keepMs = hourMs, runMs = 24 * hourMs, answerMs = hourMs } = options;
  const { now = Date.now } = options;
  const store =
    options.shared === undefined
      ? createTaskFiles(folder, { lastsMs: { task: runMs + 2 * keepMs, end: 2 * keepMs }, now })
      : createTaskRows(options.shared, { runMs, keepMs });
  const { between } = store;
  const process = createLeaseOwner();
  const running = new Map<string, Running>();
  /** Of every task of this process that is still kept, and of the ends that earlier ones left. */
  const room = createTaskRoom(options);
  const views = createTaskViews({ keepMs, now });
  /** Ends that are not on disk, yet or at all. */
  const ended = new Map<string, { beginning: Beginning; ending: Ending }>();
  const listeners = new Set<(id: string) => void>();
  let closed = false;
  let prepared: Promise<void> | undefined;

  const changed = (id: string): void => {
    for (const listener of listeners) listener(id);
    between?.tell(id);
  };
  const forget = async (id: string): Promise<void> => {
    room.forget(id);
    ended.delete(id);
    await store.remove(id);
  };

  /** Counts what earlier processes left. */
  const prepare = async (): Promise<void> => {
    for (const each of await store.prepare()) room.countLeft(each);
  };

  const sweep = async (): Promise<void> => {
    await Promise.all(room.endedBefore(now() - 2 * keepMs).map(forget));
  };

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
      room.count({ id, bytes: 0, endedAt: now() });
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
    task.questions.refuse(new CarrelError('cancelled', 'The task was cancelled.'));
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
      room.count({ id, bytes, endedAt: ending.endedAt });
      ended.delete(id);
      await between?.dropState(id).catch(() => {});
    } catch (error) {
      log.warn('the end of a task was not saved', { error });
      room.count({ id, bytes: 0, endedAt: ending.endedAt });
    }
    changed(id);
  };

  /** Somebody may want to see it. */
  const touch = (id: string): void => {
    const task = running.get(id);
    if (task === undefined) return;
    task.updatedAt = now();
    for (const listener of listeners) listener(id);
    saveSoon(id, isAsking(task) ? 0 : stateSoonMs);
  };

  const giveAnswers = (id: string, answers: Readonly<Record<string, unknown>>): void =>
    running.get(id)?.questions.answer(answers);

  const follow = (id: string): Task => ({
    id,
    view: () => {
      const task = running.get(id);
      if (task === undefined) throw unknownTask();
      return views.running(id, task.beginning, stateOf(task));
    },
    report(message) {
      const task = running.get(id);
      if (task === undefined) return;
      task.message = message.slice(0, messageCharsMax);
      touch(id);
    },
    async lasts(work) {
      const task = running.get(id);
      if (task === undefined || closed) return;
      task.beginning = { ...task.beginning, work };
      await store.replaceBeginning(id, task.beginning);
    },
    async ask(requests) {
      const task = running.get(id);
      if (task === undefined) throw new CarrelError('cancelled', 'The task has ended.');
      return task.questions.ask(requests);
    },
    end: (outcome) => end(id, outcome),
  });

  const read = async (id: unknown, owner: string): Promise<{ id: string; beginning: Beginning; ending?: Ending }> => {
    if (typeof id !== 'string' || !idPattern.test(id)) throw unknownTask();
    const kept = ended.get(id);
    const beginning = running.get(id)?.beginning ?? kept?.beginning ?? (await store.readBeginning(id));
    if (beginning === undefined || beginning.owner !== owner) throw unknownTask();
    if (running.has(id)) return { id, beginning };
    const ending = kept?.ending ?? (await store.readEnding(id));
    if (ending === undefined) return { id, beginning };
    if (views.isExpired(beginning, ending)) {
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
    if (live) return { view: views.running(id, beginning, stateOf(live)), tool };
    if (ending) return { view: views.ended(id, beginning, ending), tool };
    const isOverdue = now() - createdAt > runMs;
    const isOwn = beginning.process === process;
    const state = isOwn ? undefined : await between?.readState(id);
    const view = views.running(id, beginning, state ?? { updatedAt: createdAt, questions: {} });
    if (work !== undefined && !isOverdue) return { view, tool, leftWork: work };
    const isKnownToRun = between === undefined || state !== undefined;
    if (!isOverdue && isKnownToRun && !isGone(beginning.process) && !isOwn) return { view, tool };
    await endLeft(id, interrupted);
    // It may have ended by itself just before.
    const known = (await store.readEnding(id)) ?? { endedAt: now(), outcome: interrupted };
    return { view: views.ended(id, beginning, known), tool };
  };

  return {
    async start({ owner, tool, cancel, work }) {
      if (closed) return undefined;
      try {
        prepared ??= prepare();
        await prepared;
        await sweep();
        if (!room.hasRoom(owner, (await between?.all()) ?? [])) return undefined;
        const id = `${markOf(owner)}${randomBytes(idBytes).toString('base64url')}`;
        // Counted before it is written, or many at once would all find room.
        room.count({ id, bytes: 0 });
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
          void end(id, overdue);
        };
        const timer = setTimeout(giveUp, runMs).unref();
        const questions = createTaskQuestions({ answerMs, changed: () => touch(id) });
        running.set(id, { beginning, updatedAt: createdAt, questions, cancel, timer });
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
      const view = views.ended(id, beginning, { endedAt: now(), outcome: { status: 'cancelled' } });
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

function stateOf({ updatedAt, message, questions }: Running): TaskState {
  return { updatedAt, ...(message === undefined ? {} : { message }), questions: questions.open() };
}

function isAsking({ questions }: Running): boolean {
  return Object.keys(questions.open()).length > 0;
}
