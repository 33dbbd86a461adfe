import type { Logger } from '../base/log.ts';
import { version } from '../base/package-info.ts';
import type { Config } from '../config/load.ts';
import { toolsSlice } from '../config/slices.ts';
import type { CallJobs } from '../jobs/call-jobs.ts';
import type { Tasks } from '../jobs/tasks.ts';
import { createOffer } from '../mcp/offer.ts';
import type { Offer } from '../mcp/protocol-server.ts';
import type { Recorder } from '../telemetry/recorder.ts';
import type { Toolset } from '../tools/toolset.ts';
import type { Role } from './role.ts';

interface RoleParts {
  jobs: CallJobs;
  tasks?: Tasks | undefined;
  recorder?: Recorder | undefined;
}

/** What a role's clients are offered: its toolsets, under its name. */
export function createRoleOffer(
  role: Role,
  config: Config,
  log: Logger,
  toolsets: readonly Toolset[],
  { jobs, tasks, recorder }: RoleParts,
): Offer {
  const tools = config.of(toolsSlice);
  const name = role.name === 'serve' ? 'carrel' : `carrel-${role.name}`;
  const announced = toolsets.flatMap(({ announce }) => (announce ? [announce] : []));
  const experimental = Object.assign({}, ...announced.map((each) => each.experimental));
  return createOffer({
    serverInfo: Object.assign({ name, title: 'Carrel', version }, ...announced.map((each) => each.serverInfo)),
    instructions: instructionsOf(role, toolsets),
    ...(announced.length === 0 ? {} : { experimental }),
    toolsets,
    readOnly: tools.readOnly,
    disabledTools: tools.disabledTools,
    inFlight: { runningMax: tools.inFlightMax, waitingMax: tools.waitingMax },
    answerBytesMax: tools.answerBytesMax,
    jobs,
    ...(tasks ? { tasks } : {}),
    log,
    recorder,
  });
}

/** Put together from what is served, in the order in which the role names it. */
function instructionsOf({ instructions, toolsetInstructions = {} }: Role, toolsets: readonly Toolset[]): string {
  const served = toolsets.filter(({ tools }) => tools.length > 0);
  const names = new Set(served.map(({ name }) => name));
  const parts = Object.entries(toolsetInstructions).flatMap(([name, text]) => (names.has(name) ? [text] : []));
  return [instructions, ...parts, ...served.flatMap((toolset) => toolset.instructions ?? [])].join(' ');
}
