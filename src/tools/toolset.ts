import type { CarrelError, ErrorKind } from '../base/errors.ts';
import type { Rights } from '../base/rights.ts';
import type { SlotsOptions } from '../base/slots.ts';
import type { Measurement } from '../telemetry/sampling.ts';
import type { CitableTexts } from './citable-texts.ts';
import type { Prompt } from './prompt.ts';
import type { Quota } from './quota.ts';
import type { ResourceProvider } from './resource.ts';
import type { SearchSource } from './search-source.ts';
import type { SecretRoute } from './secret-route.ts';
import type { Tool } from './tool.ts';

/**
 * How a failed call of this toolset looks on the wire; each follows its own specification, and in `serve` all are results.
 * `jsonrpc`: a JSON-RPC error; `codes` overrides the usual numeric code of a kind. `result`: a tool result with `isError`.
 */
export type FailureStyle = { as: 'jsonrpc'; codes?: Partial<Record<ErrorKind, number>> } | { as: 'result' };

/** Plain facts under a name of the toolset's own. */
export type Announcement = Record<string, Record<string, string | Record<string, string>>>;

export interface Toolset {
  name: string;
  tools: readonly Tool[];
  /** Tools of the web console, which MCP clients neither see nor call. */
  consoleTools?: readonly Tool[];
  failures: FailureStyle;
  /** When to use these tools, for clients of a server that has others too. */
  instructions?: string;
  quotas?: Readonly<Record<string, Quota>>;
  resources?: readonly ResourceProvider[];
  prompts?: readonly Prompt[];
  sources?: readonly SearchSource[];
  /** Where `verify` looks a quotation up. */
  citable?: readonly CitableTexts[];
  /** Where bytes that should not pass through a model can be sent over HTTP. */
  secretRoutes?: readonly SecretRoute[];
  /** Calls that run longer than this are answered with a job's handle and go on. Absent: callers wait. */
  slowCallMs?: number;
  /** Calls of this toolset that may run and wait at the same time. Absent: only the program's own limit applies. */
  inFlight?: SlotsOptions;
  /** What `initialize` reports about these tools, in `serverInfo` and in `capabilities.experimental`. */
  announce?: { serverInfo: Record<string, unknown>; experimental: Announcement };
  /** Facts for `GET /health`. Must be quick and must not throw. */
  health?(): Record<string, unknown>;
  /** Figures for `/metrics`, asked for now and then. */
  measure?(): Promise<readonly Measurement[]>;
  /** Show all bounds of arguments in `tools/list`, as a specification demands. */
  listsBounds?: boolean;
  /** Accept integers and booleans as text, as the original server does whose clients these tools serve. */
  readsNumbers?: boolean;
  /** Adapts an error before it leaves, where a specification demands another code or shape. */
  translate?(error: CarrelError): CarrelError;
  /**
   * The same with only the data that the rights reach; it is not closed. Undefined where that cannot be had. Absent: there is
   * no data in it that rights tell apart.
   */
  within?(rights: Rights): Toolset | undefined;
  close?(): Promise<void>;
}

/** Those that somebody may use, with the data that they may see. */
export function toolsetsWithin(toolsets: readonly Toolset[], rights: Rights): Toolset[] {
  return toolsets
    .filter(({ name }) => rights.toolsets?.includes(name) ?? true)
    .flatMap((toolset) => (toolset.within ? (toolset.within(rights) ?? []) : toolset));
}

/** Whether a call may be answered with a job's handle, and so has the argument `wait`. */
export function mayBecomeJob(tool: Tool, toolset: Toolset): boolean {
  return toolset.slowCallMs !== undefined && tool.takesNoSlot !== true;
}
