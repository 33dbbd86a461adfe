import { setTimeout as delay } from 'node:timers/promises';
import { CarrelError, isCarrelError } from '../../base/errors.ts';
import type { Task, TaskView } from '../../jobs/task.ts';
import type { Progress } from '../../tools/call.ts';
import type { BackgroundWork, Tool } from '../../tools/tool.ts';
import { readAnswers, toInputRequests } from '../methods/elicitation.ts';
import type { IncomingCall, TaskFactory } from '../methods/incoming-call.ts';
import { runOrContinue } from './slow-calls.ts';

/** Returned instead of an answer: the call continues as this task. */
export class StartedTask {
  readonly view: TaskView;

  constructor(view: TaskView) {
    this.view = view;
  }
}

export interface TaskCallOptions {
  tool: Tool;
  /** Time after which a call becomes a task. */
  afterMs: number;
  tasks: TaskFactory;
}

/** The call, with two more functions for work that may become a task. */
export interface TaskedCall extends IncomingCall {
  /** Names the remaining background work. */
  continueAs(name: string): Promise<void>;
  /** Sets the task's status message. */
  setStatus(text: string): void;
}

/**
 * Runs work for a client that supports tasks. After `afterMs`, or earlier if the tool demands it, the client gets a task: the
 * work continues, and the task keeps the answer. If no task can be stored, the client waits, or gets an error if the tool
 * requires a task.
 */
export async function runOrBecomeTask(
  work: (call: TaskedCall) => Promise<object>,
  call: IncomingCall,
  { tool, afterMs, tasks }: TaskCallOptions,
): Promise<object> {
  const { begins, required } = tool.task ?? {};
  let task: Task | undefined;
  let workName: string | undefined;
  let message: string | undefined;
  let starting: Promise<void> | undefined;
  const startTask = (cancel: () => void): Promise<void> => {
    starting ??= tasks.start(tool.name, cancel, workName).then((started) => {
      task = started;
      if (message !== undefined) task?.report(message);
    });
    return starting;
  };

  const outcome = await runOrContinue<object, StartedTask>(
    call,
    afterMs,
    async ({ signal, cancel }, giveHandle) => {
      if (begins === 'immediately') await startTask(cancel);
      if (begins === 'immediately' || (tool.task && call.ask === undefined)) giveHandle();
      return work({
        ...call,
        signal,
        report(progress) {
          message = formatProgress(progress);
          // Tasks have no progress, only a status.
          if (task === undefined) call.report(progress);
          else task.report(message);
        },
        setStatus(text) {
          message = text;
          task?.report(text);
        },
        async continueAs(name) {
          workName = name;
          await task?.continueAs(name);
        },
        ...(call.ask && {
          ask: async (questions) => {
            await starting;
            const answers = task
              ? readAnswers(questions, await task.ask(toInputRequests(questions)))
              : await call.ask?.(questions);
            if (begins === 'after questions') giveHandle();
            return answers;
          },
        }),
      });
    },
    async ({ result, cancel }) => {
      await startTask(cancel);
      if (task !== undefined) {
        const started = new StartedTask(task.view());
        void finishTask(result, task, tool.name, tasks);
        return started;
      }
      if (!required) return undefined;
      cancel();
      result.catch(() => {});
      throw new CarrelError('too_many_in_flight', 'Too many tasks. Wait until earlier ones expire, then try again.', {
        retryAfterSeconds: 60,
      });
    },
  );
  return 'handle' in outcome ? outcome.handle : outcome.result;
}

async function finishTask(running: Promise<object>, task: Task, tool: string, { render }: TaskFactory): Promise<void> {
  // A result that can't be rendered counts as a failure: no caller is left to receive an exception.
  const outcome = await running
    .then((result) => render(tool, { result }))
    .catch((failure: unknown) => render(tool, { failure }));
  await task.end(outcome);
}

function formatProgress({ progress, total, message }: Progress): string {
  const count = total === undefined ? String(progress) : `${progress} of ${total}`;
  return message === undefined ? count : `${message} (${count})`;
}

const firstCheckMs = 50;
const checkMsMax = 1_000;

/** Waits for background work and returns its answer. */
export async function followWork(
  backgroundWork: BackgroundWork,
  name: string,
  first: object,
  call: TaskedCall,
): Promise<object> {
  for (let waitMs = firstCheckMs; ; waitMs = Math.min(waitMs * 2, checkMsMax)) {
    const state = await checkWork(backgroundWork, name, call, first).catch((error: unknown) => {
      // Not every engine reports the state of such work. Then the first answer is final.
      if (waitMs === firstCheckMs && isCarrelError(error) && error.kind === 'not_found') return { answer: first };
      throw error;
    });
    if ('answer' in state) return state.answer;
    call.setStatus(state.message);
    await delay(waitMs, undefined, { signal: call.signal });
  }
}

/** Returns the state of background work. A temporary outage counts as a state, not as a failure. */
export async function checkWork(
  backgroundWork: BackgroundWork,
  name: string,
  call: Pick<IncomingCall, 'signal'>,
  first?: object,
): Promise<{ message: string } | { answer: object }> {
  try {
    return await backgroundWork.check(name, call, first);
  } catch (error) {
    if (isCarrelError(error) && (error.kind === 'upstream' || error.kind === 'timeout')) {
      return { message: error.message };
    }
    throw error;
  }
}
