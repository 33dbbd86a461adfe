import { CarrelError, isCarrelError } from '../base/errors.ts';
import { createSlidingWindow, type MonotonicClock, type SlidingWindow } from '../base/sliding-window.ts';
import type { CallJobs } from '../jobs/call-jobs.ts';
import { answerBytesDefault, checkAnswer, envelopeBytes } from '../tools/answer-limit.ts';
import type { Call } from '../tools/call.ts';
import type { Catalogue, OfferedTool } from '../tools/catalogue.ts';
import { spend } from '../tools/quota.ts';
import type { Toolset } from '../tools/toolset.ts';
import type { Gates } from './gates.ts';
import { type IncomingCall, runOrBecomeJob, type Work } from './slow-calls.ts';
import { ownError } from './wire-errors.ts';

export interface CallToolOptions {
  catalogue: Catalogue;
  jobs: CallJobs;
  gates: Gates;
  /** The longest answer, in bytes. */
  answerBytesMax?: number;
  clock?: MonotonicClock;
}

/** A call that failed, with the toolset whose way of failing applies; none when no tool was found. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure';
  readonly error: CarrelError;
  readonly toolset: Toolset | undefined;

  constructor(error: CarrelError, toolset: Toolset | undefined) {
    super(error.message, { cause: error });
    this.error = error;
    this.toolset = toolset;
  }
}

export type CallTool = (name: string, given: unknown, call: IncomingCall) => Promise<object>;

/**
 * The one way to a tool, whatever the transport:
 *
 * 1. find it, or say what is wrong with the name;
 * 2. parse the arguments;
 * 3. count the call against the caller's quota;
 * 4. wait for a free slot, or refuse;
 * 5. run it, as a job if it becomes slow;
 * 6. see that the answer is not too long;
 * 7. make every failure one of ours.
 *
 * Returns the tool's plain data, or a job's handle.
 */
export function createCallTool({ catalogue, jobs, gates, ...options }: CallToolOptions): CallTool {
  const { answerBytesMax = answerBytesDefault } = options;
  const quotas = createQuotas(catalogue, options.clock);

  const run = async (tool: OfferedTool['tool'], input: unknown, call: Call): Promise<object> => {
    const data = await tool.run(input, { ...call, answerBytesMax });
    return checkAnswer(data, answerBytesMax - envelopeBytes, { copies: 2, done: tool.effect !== 'read' });
  };

  return async (name, given, call) => {
    const offered = find(catalogue, name);
    const { tool, toolset, parser } = offered;
    try {
      const { input, wait } = parser.parse(given);
      quotas.count(offered, call.caller.id);
      if (tool.takesNoSlot) return await run(tool, input, call);
      const slowMs = wait ? undefined : toolset.slowCallMs;
      const work: Work<object> = (running, begun) =>
        gates.pass(toolset, running.signal, begun, () => run(tool, input, running));
      const outcome = await runOrBecomeJob(work, call, slowMs, jobs);
      return 'handle' in outcome ? outcome.handle : outcome.result;
    } catch (thrown) {
      const own = ownError(thrown, call.log.with({ tool: name }));
      throw new ToolFailure(isCarrelError(thrown) && toolset.translate ? toolset.translate(own) : own, toolset);
    }
  };
}

function find(catalogue: Catalogue, name: string): OfferedTool {
  const offered = catalogue.find(name);
  if (offered) return offered;
  const error = catalogue.isDisabled(name)
    ? new CarrelError('tool_disabled', `The tool ${name} is disabled on this server.`)
    : new CarrelError('unknown_tool', `Unknown tool: ${printable(name)}. tools/list shows the available ones.`);
  throw new ToolFailure(error, undefined);
}

function createQuotas(catalogue: Catalogue, clock: MonotonicClock | undefined) {
  const windows = new Map<string, SlidingWindow>();
  for (const toolset of catalogue.toolsets) {
    for (const [category, { limit, windowMs, window }] of Object.entries(toolset.quotas ?? {})) {
      const counted = window ?? createSlidingWindow({ limit, windowMs, ...(clock ? { clock } : {}) });
      windows.set(`${toolset.name} ${category}`, counted);
    }
  }
  return {
    count({ tool, toolset }: OfferedTool, caller: string): void {
      const category = tool.quota;
      const quota = category === undefined ? undefined : toolset.quotas?.[category];
      const window = windows.get(`${toolset.name} ${category}`);
      if (category !== undefined && quota !== undefined && window !== undefined) spend(window, category, quota, caller);
    },
  };
}

function printable(name: string): string {
  return name.replace(/[^\w.-]/g, '?').slice(0, 64);
}
