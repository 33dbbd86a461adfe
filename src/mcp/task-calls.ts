import { setTimeout as delay } from 'node:timers/promises';
import { CarrelError, isCarrelError } from '../base/errors.ts';
import type { Task, TaskView } from '../jobs/task.ts';
import type { Progress } from '../tools/call.ts';
import type { LastingWork, Tool } from '../tools/tool.ts';
import { readAnswers, toInputRequests } from './asking.ts';
import type { IncomingCall, TaskDesk } from './incoming-call.ts';

/** Instead of an answer: the call goes on as this task. */
export class StartedTask {
  readonly view: TaskView;

  constructor(view: TaskView) {
    this.view = view;
  }
}

export interface TaskCallOptions {
  tool: Tool;
  /** After this time the call goes on as a task. */
  afterMs: number;
  desk: TaskDesk;
}

/** What the work gets in addition to its call. */
export interface TaskedCall extends IncomingCall {
  /** Names the rest of the work, which goes on by itself. */
  lasts(name: string): Promise<void>;
  /** Says how it stands. */
  tell(text: string): void;
}

/**
 * Runs work for a client that takes tasks. If it is not done after a while, or if the tool wants it so, the client gets a
 * task: the work continues, and the task keeps what the call would have answered. Where no task can be kept, the client
 * waits.
 */
export async function runOrBecomeTask(
  work: (call: TaskedCall) => Promise<object>,
  call: IncomingCall,
  { tool, afterMs, desk }: TaskCallOptions,
): Promise<object> {
  const controller = new AbortController();
  const cancel = (): void => controller.abort();
  call.signal.addEventListener('abort', cancel, { once: true });
  const slow = Promise.withResolvers<void>();
  const timer = setTimeout(slow.resolve, afterMs);
  let task: Task | undefined;
  let lasting: string | undefined;
  let message: string | undefined;

  let becoming: Promise<void> | undefined;
  const become = (): Promise<void> => {
    becoming = desk.start(tool.name, cancel, lasting).then((started) => {
      task = started;
      if (message !== undefined) task?.report(message);
    });
    return becoming;
  };
  const tasked: TaskedCall = {
    ...call,
    signal: controller.signal,
    report(progress) {
      message = inWords(progress);
      // A task has no progress, only its status.
      if (task === undefined) call.report(progress);
      else task.report(message);
    },
    tell(text) {
      message = text;
      task?.report(text);
    },
    async lasts(name) {
      lasting = name;
      await task?.lasts(name);
    },
    ...(call.ask && {
      ask: async (questions) => {
        await becoming;
        const answers = task
          ? readAnswers(questions, await task.ask(toInputRequests(questions)))
          : await call.ask?.(questions);
        if (tool.task?.begins === 'after questions') slow.resolve();
        return answers;
      },
    }),
  };

  try {
    if (tool.task?.begins === 'at once') await become();
    else if (tool.task && call.ask === undefined) slow.resolve();
    const running = work(tasked);
    if (task === undefined) {
      const first = await Promise.race([running.then((result) => ({ result })), slow.promise]);
      if (first) return first.result;
      await become();
    }
    if (task === undefined) {
      if (tool.task?.required) {
        cancel();
        running.catch(() => {});
        throw new CarrelError('too_many_in_flight', 'Too many tasks are kept. Try again later.', {
          retryAfterSeconds: 60,
        });
      }
      return await running;
    }
    const started = new StartedTask(task.view());
    void settle(running, task, tool.name, desk);
    return started;
  } finally {
    clearTimeout(timer);
    call.signal.removeEventListener('abort', cancel);
  }
}

async function settle(running: Promise<object>, task: Task, tool: string, desk: TaskDesk): Promise<void> {
  // What can't be rendered has failed, too: nobody waits here who could be told otherwise.
  const outcome = await running
    .then((result) => desk.render(tool, { result }))
    .catch((failure: unknown) => desk.render(tool, { failure }));
  await task.end(outcome);
}

function inWords({ progress, total, message }: Progress): string {
  const count = total === undefined ? String(progress) : `${progress} of ${total}`;
  return message === undefined ? count : `${message} (${count})`;
}

const firstLookMs = 50;
const looksMs = 1_000;

/** Waits for work that goes on by itself. */
export async function followLasting(
  lasting: LastingWork,
  name: string,
  first: object,
  call: TaskedCall,
): Promise<object> {
  for (let waitMs = firstLookMs; ; waitMs = Math.min(waitMs * 2, looksMs)) {
    const state = await lookAt(lasting, name, call, first).catch((error: unknown) => {
      // Not everybody who does such work tells of it. Then the first answer is all there is.
      if (waitMs === firstLookMs && isCarrelError(error) && error.kind === 'not_found') return { answer: first };
      throw error;
    });
    if ('answer' in state) return state.answer;
    call.tell(state.message);
    await delay(waitMs, undefined, { signal: call.signal });
  }
}

/** How such work stands. Whoever does it may be away for a while: that is no end. */
export async function lookAt(
  lasting: LastingWork,
  name: string,
  call: Pick<IncomingCall, 'signal'>,
  first?: object,
): Promise<{ message: string } | { answer: object }> {
  try {
    return await lasting.check(name, call, first);
  } catch (error) {
    if (isCarrelError(error) && (error.kind === 'upstream' || error.kind === 'timeout')) {
      return { message: error.message };
    }
    throw error;
  }
}
