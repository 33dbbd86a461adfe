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
import { type Announcement, type Toolset, toolsetsWithin } from '../tools/toolset.ts';
import { createAnswered } from './methods/asking.ts';
import { type CallTool, createCallTool } from './methods/call-tool.ts';
import { createGates } from './methods/gates.ts';
import { createPrompts, type Prompts } from './methods/prompts.ts';
import { createResources, type Resources } from './methods/resources.ts';
import { createTurns, type Turns } from './methods/turns.ts';
import { knowsIcons } from './protocol-versions.ts';

/** What a role offers, made once and shared by all its connections. It holds no client's state. */
export interface Offer {
  /** Goes out as `serverInfo`; may carry fields of the role's own. */
  serverInfo: { name: string; title?: string; version: string };
  /** For clients that show the server to people. */
  icons?: Icon[] | undefined;
  instructions: string;
  experimental?: Announcement;
  catalogue: Catalogue;
  callTool: CallTool;
  /** The tools as the web console has them: those of clients and its own. */
  forConsole(): Pick<Offer, 'catalogue' | 'callTool'>;
  resources: Resources;
  prompts: Prompts;
  jobs: CallJobs;
  /** Absent where calls do not become tasks. */
  tasks?: Tasks;
  /** The longest answer, in bytes. */
  answerBytesMax: number;
  /** Whether the answers of searches also link to what they found. */
  linksResources: boolean;
  /** How long the user has for an answer to a question. */
  answerMs?: number | undefined;
  /** Answers of users that were given already. */
  answered: CallCounter;
  turns: Turns;
  /** Told of each client that has connected; what it returns, when that one has gone. */
  onClient?: (client: ClientName, caller: Caller) => () => void;
  /** Calls the listener after every call that may have changed something. */
  onWrite(listener: () => void): void;
  log: Logger;
  /** What a caller with these rights is offered; the rest is as unknown to it as if it did not exist. */
  within(rights: Rights): Offer;
  recorder: Recorder | undefined;
}

type About = Pick<Offer, 'serverInfo' | 'instructions' | 'experimental'>;

export interface OfferOptions extends About {
  toolsets: readonly Toolset[];
  /** Name and instructions for callers with only these toolsets; by default the same as for all. */
  aboutSome?: (toolsets: readonly Toolset[]) => About;
  icons?: Icon[];
  readOnly: boolean;
  disabledTools: readonly string[];
  /** See CatalogueOptions. */
  listedTools?: ReadonlySet<string> | undefined;
  inFlight: SlotsOptions;
  /** The longest answer, in bytes. */
  answerBytesMax?: number;
  /** See Offer; false unless told. */
  linksResources?: boolean;
  jobs: CallJobs;
  /** Absent: calls never become tasks. */
  tasks?: Tasks;
  log: Logger;
  /** Is told of every call and request. */
  recorder?: Recorder | undefined;
  /** Carries notices of writes between processes. */
  shared?: SharedStore | undefined;
  clock?: MonotonicClock;
  /** How long the user has for an answer to a question; ten minutes unless told. */
  answerMs?: number;
}

/** Offers for callers with restricted rights that are kept; the one that was not used for longest makes room. */
const restrictedMax = 100;

export function createOffer(options: OfferOptions): Offer {
  const { jobs, tasks, inFlight, log, recorder, shared, clock } = options;
  const { answerBytesMax = answerBytesDefault } = options;
  const gates = createGates(options.toolsets, inFlight);
  const turns = createTurns();
  const answered = createAnswered(shared);
  const restricted = new BoundedMap<string, Offer>(restrictedMax);
  const writeListeners = new Set<() => void>();
  const tellOfWrite = (): void => {
    for (const listener of writeListeners) listener();
  };
  shared?.onNotice(({ about }) => {
    if (about === 'written') tellOfWrite();
  });

  const callable = (toolsets: readonly Toolset[], readOnly: boolean): Pick<Offer, 'catalogue' | 'callTool'> => {
    const catalogue = createCatalogue(toolsets, { ...options, readOnly });
    const called = createCallTool({ catalogue, jobs, gates, answerBytesMax, recorder, ...(clock ? { clock } : {}) });
    const callTool: typeof called = async (name, given, call) => {
      try {
        return await called(name, given, call);
      } finally {
        if (catalogue.find(name)?.tool.effect !== 'read') {
          tellOfWrite();
          shared?.tell({ about: 'written' });
        }
      }
    };
    return { catalogue, callTool };
  };

  const make = (toolsets: readonly Toolset[], about: About, readOnly: boolean): Offer => {
    const { serverInfo, instructions, experimental } = about;
    const { catalogue, callTool } = callable(toolsets, readOnly);
    const { unlisted } = catalogue;
    let forConsole: ReturnType<typeof callable> | undefined;
    return {
      serverInfo,
      icons: options.icons,
      instructions:
        unlisted.length === 0
          ? instructions
          : `${instructions} Tools that are not listed here: ${unlisted.join(', ')}.`,
      ...(experimental ? { experimental } : {}),
      catalogue,
      callTool,
      forConsole() {
        forConsole ??= callable(toolsets.map(withConsoleTools), readOnly);
        return forConsole;
      },
      resources: createResources(toolsets, jobs, gates, answerBytesMax),
      prompts: createPrompts(toolsets),
      answerBytesMax,
      linksResources: options.linksResources ?? false,
      answerMs: options.answerMs,
      answered,
      turns,
      jobs,
      ...(tasks ? { tasks } : {}),
      log,
      recorder,
      within,
      onWrite: (listener) => void writeListeners.add(listener),
    };
  };

  function within(rights: Rights): Offer {
    const key = rightsKey(rights);
    if (key === rightsKey({})) return whole;
    const offer = restricted.get(key) ?? restrict(rights);
    restricted.set(key, offer);
    return offer;
  }

  function restrict(rights: Rights): Offer {
    const toolsets = toolsetsWithin(options.toolsets, rights);
    const isAll = toolsets.length === options.toolsets.length;
    return make(
      toolsets,
      isAll ? options : (options.aboutSome?.(toolsets) ?? options),
      options.readOnly || rights.readOnly === true,
    );
  }

  const whole = make(options.toolsets, options, options.readOnly);
  return whole;
}

function withConsoleTools(toolset: Toolset): Toolset {
  return { ...toolset, tools: [...toolset.tools, ...(toolset.consoleTools ?? [])] };
}

/** `serverInfo` for a client that asks who we are. In 2026-07-28 every answer repeats it, but without the icons. */
export function introduction(
  { serverInfo, icons }: Pick<Offer, 'serverInfo' | 'icons'>,
  revision: string,
): Offer['serverInfo'] & { icons?: Icon[] } {
  return icons !== undefined && knowsIcons(revision) ? { ...serverInfo, icons } : serverInfo;
}
