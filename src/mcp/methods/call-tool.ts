import { answerBytesDefault, checkAnswer, envelopeBytes } from '../../answers/answer-limit.ts';
import { CarrelError, type ErrorKind, isCarrelError } from '../../base/errors.ts';
import type { CallCounter } from '../../base/shared-window.ts';
import { createSlidingWindow, type MonotonicClock } from '../../base/sliding-window.ts';
import type { CallJobs } from '../../jobs/call-jobs.ts';
import type { Recorder } from '../../telemetry/recorder.ts';
import { type Call, localUser } from '../../tools/call.ts';
import type { Catalogue, EnabledTool } from '../../tools/catalogue.ts';
import { countCall } from '../../tools/quota.ts';
import { runOrBecomeJob, type Work } from '../tasks/slow-calls.ts';
import { followWork, runOrBecomeTask, type TaskedCall } from '../tasks/task-calls.ts';
import { missingTasks, RpcError, ToolFailure, toCarrelError } from '../wire-errors.ts';
import type { CallSlots } from './call-slots.ts';
import { InputRequired } from './elicitation.ts';
import type { IncomingCall } from './incoming-call.ts';

export interface CallToolOptions {
  catalogue: Catalogue;
  jobs: CallJobs;
  callSlots: CallSlots;
  /** Max bytes per answer. */
  answerBytesMax?: number;
  clock?: MonotonicClock;
  /** Notified of every call. */
  recorder?: Recorder | undefined;
}

export type CallTool = (name: string, args: unknown, call: IncomingCall) => Promise<object>;

/**
 * Creates the function that runs all tool calls, on any transport:
 *
 * 1. find the tool, or report the unknown name;
 * 2. parse the arguments;
 * 3. count the call against the caller's quota;
 * 4. wait for a free slot, or reject;
 * 5. ask the user, if the tool has questions and the client can ask;
 * 6. run the tool; a slow call continues as a task or job;
 * 7. check the length of the answer;
 * 8. convert every failure to a `ToolFailure`.
 *
 * The function returns the tool's plain data, a job handle or a started task.
 */
export function createCallTool({ catalogue, jobs, callSlots, recorder, ...options }: CallToolOptions): CallTool {
  const { answerBytesMax = answerBytesDefault } = options;
  const quotas = createQuotas(catalogue, options.clock);

  const run = async (tool: EnabledTool['tool'], input: unknown, call: Call): Promise<object> => {
    if (call.caller.drained) await call.caller.drained();
    const data = await tool.run(input, { ...call, answerBytesMax });
    return checkAnswer(data, answerBytesMax - envelopeBytes, { copies: 2, done: tool.effect !== 'read' });
  };

  const failure = (thrown: unknown, { tool, toolset }: EnabledTool, call: Call): Error => {
    if (thrown instanceof InputRequired || thrown instanceof ToolFailure || thrown instanceof RpcError) return thrown;
    const error = toCarrelError(thrown, call.log.with({ tool: tool.name }));
    return new ToolFailure(isCarrelError(thrown) && toolset.translate ? toolset.translate(error) : error, toolset);
  };

  const perform: CallTool = async (name, args, call) => {
    const offered = find(catalogue, name);
    const { tool, toolset, parser } = offered;
    try {
      const { input, wait } = parser.parse(args);
      if (tool.task?.required && call.tasks === undefined) throw missingTasks();
      const counting = quotas.count(offered, call.caller.id);
      if (counting) await counting;
      if (tool.takesNoSlot) return await run(tool, input, call);
      // Calls without questions must reach the queue without an `await`, so that they keep their order.
      const mustAsk = tool.questions !== undefined && call.ask !== undefined;
      const ask = async (running: IncomingCall): Promise<IncomingCall> => {
        // Creating the questions needs a slot; waiting for the user does not.
        const questions = await callSlots.run(toolset, running.signal, async () => tool.questions?.(input, running));
        const answers = questions && (await running.ask?.(questions));
        return questions && answers ? { ...running, answered: { questions, answers } } : running;
      };
      if (call.tasks === undefined || wait) {
        const readyCall = mustAsk ? await ask(call) : call;
        const work: Work<object> = (running, started) =>
          callSlots.run(toolset, running.signal, () => run(tool, input, running), started);
        const outcome = await runOrBecomeJob(work, readyCall, wait ? undefined : toolset.slowCallMs, jobs);
        return 'handle' in outcome ? outcome.handle : outcome.result;
      }
      const work = async (running: TaskedCall): Promise<object> => {
        try {
          const readyCall = mustAsk ? await ask(running) : running;
          const first = await callSlots.run(toolset, running.signal, () => run(tool, input, readyCall));
          const remaining = tool.backgroundWork?.nameOf(first);
          if (tool.backgroundWork === undefined || remaining === undefined) return first;
          await running.continueAs(remaining);
          return await followWork(tool.backgroundWork, remaining, first, running);
        } catch (thrown) {
          throw failure(thrown, offered, call);
        }
      };
      const afterMs = toolset.slowCallMs ?? taskAfterMs;
      return await runOrBecomeTask(work, call, { tool, afterMs, tasks: call.tasks });
    } catch (thrown) {
      throw failure(thrown, offered, call);
    }
  };

  return async (name, args, call) => {
    const recordEnd = recorder?.call();
    const [at, start] = [Date.now(), performance.now()];
    const record = (outcome: string, details: { answer?: object; kind?: ErrorKind }): void => {
      const ms = performance.now() - start;
      const tool = catalogue.find(name) === undefined ? unknownTool : name;
      recordEnd?.({ at, tool, caller: call.caller, args, client: call.client, ms, outcome, ...details });
      // Logs calls of named callers at `info`, as a record of who did what.
      const level = call.caller.name === localUser.name ? 'debug' : 'info';
      call.log[level]('called', { tool: printable(name), outcome, ms: Math.round(ms) });
    };
    try {
      const answer = await perform(name, args, call);
      record('ok', { answer });
      return answer;
    } catch (failure) {
      const { code, kind } = failure instanceof ToolFailure ? failure.error : unexpected;
      record(code, { kind });
      throw failure;
    }
  };
}

/** Metrics label for all unknown names, so that callers can't create new series. */
const unknownTool = '(unknown)';
const unexpected = { code: 'internal', kind: 'internal' } as const;

/** Default time after which a client that supports tasks gets a task instead of an answer. */
const taskAfterMs = 2_000;

function find(catalogue: Catalogue, name: string): EnabledTool {
  const offered = catalogue.find(name);
  if (offered) return offered;
  const error = catalogue.isDisabled(name)
    ? new CarrelError('tool_disabled', `The tool ${name} is disabled on this server.`)
    : new CarrelError('unknown_tool', `Unknown tool: ${printable(name)}. Use tools/list to see the available tools.`);
  throw new ToolFailure(error, undefined);
}

function createQuotas(catalogue: Catalogue, clock: MonotonicClock | undefined) {
  const windows = new Map<string, CallCounter>();
  for (const toolset of catalogue.toolsets) {
    for (const [category, { limit, windowMs, window }] of Object.entries(toolset.quotas ?? {})) {
      const counter = window ?? createSlidingWindow({ limit, windowMs, ...(clock ? { clock } : {}) });
      windows.set(`${toolset.name} ${category}`, counter);
    }
  }
  return {
    count({ tool, toolset }: EnabledTool, caller: string): Promise<void> | undefined {
      const category = tool.quota;
      const quota = category === undefined ? undefined : toolset.quotas?.[category];
      const window = windows.get(`${toolset.name} ${category}`);
      if (category === undefined || quota === undefined || window === undefined) return undefined;
      return countCall(window, category, quota, caller);
    },
  };
}

function printable(name: string): string {
  return name.replace(/[^\w.-]/g, '?').slice(0, 64);
}
