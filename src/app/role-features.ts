import type { Logger } from '../base/log.ts';
import { version } from '../base/package-info.ts';
import type { SharedStore } from '../base/shared-store.ts';
import type { Config } from '../config/load.ts';
import { toolsSlice } from '../config/slices.ts';
import { iconAddress } from '../console/icon.ts';
import type { CallJobs } from '../jobs/call-jobs.ts';
import type { Tasks } from '../jobs/task.ts';
import { createServerFeatures, type ServerFeatures } from '../mcp/server-features.ts';
import type { Recorder } from '../telemetry/recorder.ts';
import type { Toolset } from '../tools/toolset.ts';
import type { Role } from './role.ts';
import { untrustedTextWarning } from './roles.ts';

/** The tools that most agents need, listed by `--tools essential`. */
export const essentialTools: ReadonlySet<string> = new Set([
  ...['find', 'verify'],
  ...['store_context', 'hybrid_search_context', 'get_context_by_ids'],
  ...['update_context', 'delete_context', 'list_threads'],
  ...['kb_search', 'kb_get', 'kb_list', 'kb_add'],
  ...['web_search', 'fetch_page'],
]);

interface RoleFeaturesDeps {
  jobs: CallJobs;
  tasks?: Tasks | undefined;
  recorder?: Recorder | undefined;
  shared?: SharedStore | undefined;
}

/** Creates a role's tools, resources, prompts and instructions. */
export function createRoleFeatures(
  role: Role,
  config: Config,
  log: Logger,
  toolsets: readonly Toolset[],
  { jobs, tasks, recorder, shared }: RoleFeaturesDeps,
): ServerFeatures {
  const tools = config.of(toolsSlice);
  const name = role.name === 'serve' ? 'carrel' : `carrel-${role.name}`;
  const describe = (available: readonly Toolset[], introduction: string, perToolset: Role['toolsetInstructions']) => {
    const announcements = available.flatMap(({ announce }) => (announce ? [announce] : []));
    const experimental = Object.assign({}, ...announcements.map((each) => each.experimental));
    return {
      serverInfo: Object.assign({ name, title: 'Carrel', version }, ...announcements.map((each) => each.serverInfo)),
      instructions: instructionsOf(introduction, perToolset, available),
      ...(announcements.length === 0 ? {} : { experimental }),
    };
  };
  return createServerFeatures({
    ...describe(toolsets, role.instructions, role.toolsetInstructions),
    // For callers with limited rights. The role's own introduction would mention tools that they don't have.
    describeFor: (available) => describe(available, untrustedTextWarning, role.toolsetInstructions),
    toolsets,
    icons: [{ src: iconAddress(), mimeType: 'image/svg+xml', sizes: ['any'] }],
    readOnly: tools.readOnly,
    disabledTools: tools.disabledTools,
    listedTools: role.name === 'serve' && tools.offered === 'essential' ? essentialTools : undefined,
    inFlight: { runningMax: tools.inFlightMax, waitingMax: tools.waitingMax },
    answerBytesMax: tools.answerBytesMax,
    linksResources: tools.resourceLinks,
    jobs,
    ...(tasks ? { tasks } : {}),
    log,
    recorder,
    shared,
  });
}

/** Joins the introduction and the instructions of the served toolsets, in the role's order. */
function instructionsOf(
  introduction: string,
  perToolset: Role['toolsetInstructions'] = {},
  toolsets: readonly Toolset[],
): string {
  const served = toolsets.filter(({ tools }) => tools.length > 0);
  const names = new Set(served.map(({ name }) => name));
  const parts = Object.entries(perToolset).flatMap(([name, text]) => (names.has(name) ? [text] : []));
  return [introduction, ...parts, ...served.flatMap(({ instructions }) => instructions ?? [])].join(' ');
}
