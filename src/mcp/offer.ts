import type { Logger } from '../base/log.ts';
import type { MonotonicClock } from '../base/sliding-window.ts';
import type { SlotsOptions } from '../base/slots.ts';
import type { CallJobs } from '../jobs/call-jobs.ts';
import type { Tasks } from '../jobs/tasks.ts';
import type { Recorder } from '../telemetry/recorder.ts';
import { answerBytesDefault } from '../tools/answer-limit.ts';
import { createCatalogue } from '../tools/catalogue.ts';
import type { Toolset } from '../tools/toolset.ts';
import { createCallTool } from './call-tool.ts';
import { createGates } from './gates.ts';
import { observeCalls } from './observe.ts';
import { createPrompts } from './prompts.ts';
import type { Offer } from './protocol-server.ts';
import { createResources } from './resources.ts';

export interface OfferOptions {
  serverInfo: Offer['serverInfo'];
  instructions: string;
  experimental?: Offer['experimental'];
  toolsets: readonly Toolset[];
  readOnly: boolean;
  disabledTools: readonly string[];
  inFlight: SlotsOptions;
  /** The longest answer, in bytes. */
  answerBytesMax?: number;
  jobs: CallJobs;
  /** Absent: calls never become tasks. */
  tasks?: Tasks;
  log: Logger;
  /** Is told of every call and request. */
  recorder?: Recorder | undefined;
  clock?: MonotonicClock;
}

export function createOffer(options: OfferOptions): Offer {
  const { toolsets, jobs, tasks, inFlight, log, serverInfo, instructions, experimental, recorder, clock } = options;
  const { answerBytesMax = answerBytesDefault } = options;
  const catalogue = createCatalogue(toolsets, options);
  const gates = createGates(toolsets, inFlight);
  const callTool = createCallTool({ catalogue, jobs, gates, answerBytesMax, ...(clock ? { clock } : {}) });
  return {
    serverInfo,
    instructions,
    ...(experimental ? { experimental } : {}),
    catalogue,
    callTool: recorder ? observeCalls(callTool, catalogue, recorder) : callTool,
    resources: createResources(toolsets, jobs, gates, answerBytesMax),
    prompts: createPrompts(toolsets),
    answerBytesMax,
    jobs,
    ...(tasks ? { tasks } : {}),
    log,
    recorder,
  };
}
