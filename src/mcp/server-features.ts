import type { Icon } from '@modelcontextprotocol/server';
import { answerBytesDefault } from '../answers/answer-limit.ts';
import { BoundedMap } from '../base/bounded-map.ts';
import type { Logger } from '../base/log.ts';
import { type Rights, rightsKey } from '../base/rights.ts';
import type { SharedStore } from '../base/shared-store.ts';
import type { CallCounter } from '../base/shared-window.ts';
import type { MonotonicClock } from '../base/sliding-window.ts';
import type { SlotsOptions } from '../base/slots.ts';
import type { CallJobs } from '../jobs/call-jobs.ts';
import type { Tasks } from '../jobs/task.ts';
import type { Recorder } from '../telemetry/recorder.ts';
import type { Caller, ClientName } from '../tools/call.ts';
import { type Catalogue, createCatalogue } from '../tools/catalogue.ts';
import { type Announcement, scopeToolsets, type Toolset } from '../tools/toolset.ts';
import { createCallSlots } from './methods/call-slots.ts';
import { type CallTool, createCallTool } from './methods/call-tool.ts';
import { createUsedAnswers } from './methods/elicitation.ts';
import { createPrompts, type Prompts } from './methods/prompts.ts';
import { createRequestPacer, type RequestPacer } from './methods/request-pacer.ts';
import { createResources, type Resources } from './methods/resources.ts';
import { supportsIcons } from './protocol-versions.ts';

/** The tools, resources and prompts of a role. Created once, shared by all connections, without client state. */
export interface ServerFeatures {
  /** Sent as `serverInfo`; a role may add fields. */
  serverInfo: { name: string; title?: string; version: string };
  /** Icons, for clients that display the server. */
  icons?: Icon[] | undefined;
  instructions: string;
  experimental?: Announcement;
  catalogue: Catalogue;
  callTool: CallTool;
  /** Returns the tools of the web console, which has a few more than MCP clients. */
  forConsole(): Pick<ServerFeatures, 'catalogue' | 'callTool'>;
  resources: Resources;
  prompts: Prompts;
  jobs: CallJobs;
  /** Absent if calls never become tasks. */
  tasks?: Tasks;
  /** Max bytes per answer. */
  answerBytesMax: number;
  /** True if search answers also contain resource links. */
  linksResources: boolean;
  /** How long the user may take to answer a question. */
  answerMs?: number | undefined;
  /** Counts how often each of the user's answers was used. */
  usedAnswers: CallCounter;
  pacer: RequestPacer;
  /** Called for each new client; the returned function is called when it disconnects. */
  onClient?: (client: ClientName, caller: Caller) => () => void;
  /** Calls the listener after every call that may have changed something. */
  onWrite(listener: () => void): void;
  log: Logger;
  /** Returns the features that these rights allow. All others appear not to exist. */
  scopedTo(rights: Rights): ServerFeatures;
  recorder: Recorder | undefined;
}

type ServerDescription = Pick<ServerFeatures, 'serverInfo' | 'instructions' | 'experimental'>;

export interface ServerFeaturesOptions extends ServerDescription {
  toolsets: readonly Toolset[];
  /** Returns name and instructions for callers with only these toolsets. By default, they are the same for all. */
  describeFor?: (toolsets: readonly Toolset[]) => ServerDescription;
  icons?: Icon[];
  readOnly: boolean;
  disabledTools: readonly string[];
  /** See CatalogueOptions. */
  listedTools?: ReadonlySet<string> | undefined;
  inFlight: SlotsOptions;
  /** Max bytes per answer. */
  answerBytesMax?: number;
  /** See `ServerFeatures`; false by default. */
  linksResources?: boolean;
  jobs: CallJobs;
  /** Stores tasks. Without it, calls never become tasks. */
  tasks?: Tasks;
  log: Logger;
  /** Notified of every call and request. */
  recorder?: Recorder | undefined;
  /** Notifies other processes of writes. */
  shared?: SharedStore | undefined;
  clock?: MonotonicClock;
  /** How long the user may take to answer a question; default ten minutes. */
  answerMs?: number;
}

/** Max cached features of restricted callers; the least recently used are dropped. */
const restrictedMax = 100;

export function createServerFeatures(options: ServerFeaturesOptions): ServerFeatures {
  const { jobs, tasks, inFlight, log, recorder, shared, clock } = options;
  const { answerBytesMax = answerBytesDefault } = options;
  const callSlots = createCallSlots(options.toolsets, inFlight);
  const pacer = createRequestPacer();
  const usedAnswers = createUsedAnswers(shared);
  const restricted = new BoundedMap<string, ServerFeatures>(restrictedMax);
  const writeListeners = new Set<() => void>();
  const notifyWrite = (): void => {
    for (const listener of writeListeners) listener();
  };
  shared?.onNotice(({ about }) => {
    if (about === 'written') notifyWrite();
  });

  const createTools = (
    toolsets: readonly Toolset[],
    readOnly: boolean,
  ): Pick<ServerFeatures, 'catalogue' | 'callTool'> => {
    const catalogue = createCatalogue(toolsets, { ...options, readOnly });
    const runTool = createCallTool({
      catalogue,
      jobs,
      callSlots,
      answerBytesMax,
      recorder,
      ...(clock ? { clock } : {}),
    });
    const callTool: typeof runTool = async (name, args, call) => {
      try {
        return await runTool(name, args, call);
      } finally {
        if (catalogue.find(name)?.tool.effect !== 'read') {
          notifyWrite();
          shared?.notify({ about: 'written' });
        }
      }
    };
    return { catalogue, callTool };
  };

  const createFor = (toolsets: readonly Toolset[], about: ServerDescription, readOnly: boolean): ServerFeatures => {
    const { serverInfo, instructions, experimental } = about;
    const { catalogue, callTool } = createTools(toolsets, readOnly);
    const { unlisted } = catalogue;
    let forConsole: ReturnType<typeof createTools> | undefined;
    return {
      serverInfo,
      icons: options.icons,
      instructions:
        unlisted.length === 0 ? instructions : `${instructions} Further tools, not listed: ${unlisted.join(', ')}.`,
      ...(experimental ? { experimental } : {}),
      catalogue,
      callTool,
      forConsole() {
        forConsole ??= createTools(toolsets.map(withConsoleTools), readOnly);
        return forConsole;
      },
      resources: createResources(toolsets, jobs, callSlots, answerBytesMax),
      prompts: createPrompts(toolsets),
      answerBytesMax,
      linksResources: options.linksResources ?? false,
      answerMs: options.answerMs,
      usedAnswers,
      pacer,
      jobs,
      ...(tasks ? { tasks } : {}),
      log,
      recorder,
      scopedTo,
      onWrite: (listener) => void writeListeners.add(listener),
    };
  };

  function scopedTo(rights: Rights): ServerFeatures {
    const key = rightsKey(rights);
    if (key === rightsKey({})) return allFeatures;
    const features = restricted.get(key) ?? restrict(rights);
    restricted.set(key, features);
    return features;
  }

  function restrict(rights: Rights): ServerFeatures {
    const toolsets = scopeToolsets(options.toolsets, rights);
    const hasAllToolsets = toolsets.length === options.toolsets.length;
    return createFor(
      toolsets,
      hasAllToolsets ? options : (options.describeFor?.(toolsets) ?? options),
      options.readOnly || rights.readOnly === true,
    );
  }

  const allFeatures = createFor(options.toolsets, options, options.readOnly);
  return allFeatures;
}

function withConsoleTools(toolset: Toolset): Toolset {
  return { ...toolset, tools: [...toolset.tools, ...(toolset.consoleTools ?? [])] };
}

/** Returns the `serverInfo` of a handshake, with icons if the revision has them. */
export function serverInfoFor(
  { serverInfo, icons }: Pick<ServerFeatures, 'serverInfo' | 'icons'>,
  revision: string,
): ServerFeatures['serverInfo'] & { icons?: Icon[] } {
  return icons !== undefined && supportsIcons(revision) ? { ...serverInfo, icons } : serverInfo;
}
