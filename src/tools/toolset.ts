import type { CarrelError, ErrorKind } from '../base/errors.ts';
import type { Rights } from '../base/rights.ts';
import type { SlotsOptions } from '../base/slots.ts';
import type { FileToSend } from '../http/send-file.ts';
import type { Measurement } from '../telemetry/sampling.ts';
import type { CitableTexts } from './citable-texts.ts';
import type { Prompt } from './prompt.ts';
import type { Quota } from './quota.ts';
import type { ResourceProvider } from './resource.ts';
import type { SearchSource } from './search-source.ts';
import type { SecretRoute } from './secret-route.ts';
import type { Tool } from './tool.ts';

/**
 * How failures look on the wire, as the toolset's specification demands. In `serve`, all are results. `jsonrpc`: a
 * JSON-RPC error, where `codes` overrides the default code of a kind. `result`: a tool result with `isError`.
 */
export type FailureStyle = { as: 'jsonrpc'; codes?: Partial<Record<ErrorKind, number>> } | { as: 'result' };

/** Plain facts under the toolset's name. */
export type Announcement = Record<string, Record<string, string | Record<string, string>>>;

export interface Toolset {
  name: string;
  tools: readonly Tool[];
  /** Tools of the web console, which MCP clients neither see nor call. */
  consoleTools?: readonly Tool[];
  failures: FailureStyle;
  /** When to use these tools, for servers with several toolsets. */
  instructions?: string;
  quotas?: Readonly<Record<string, Quota>>;
  resources?: readonly ResourceProvider[];
  prompts?: readonly Prompt[];
  sources?: readonly SearchSource[];
  /** Where `verify` looks up a quotation. */
  citable?: readonly CitableTexts[];
  /** The original file of a document, byte for byte, for the console. */
  original?(id: number, signal: AbortSignal): Promise<FileToSend>;
  /** HTTP routes for bytes that should bypass the model. */
  secretRoutes?: readonly SecretRoute[];
  /** Slower calls are answered with a job handle and continue. Without it, callers wait. */
  slowCallMs?: number;
  /** Concurrency limit for this toolset. Without it, only the program's limit applies. */
  inFlight?: SlotsOptions;
  /** Fields that `initialize` adds to `serverInfo` and `capabilities.experimental`. */
  announce?: { serverInfo: Record<string, unknown>; experimental: Announcement };
  /** Facts for `GET /health`. Must be fast and must not throw. */
  health?(): Record<string, unknown>;
  /** Gauges for `/metrics`, polled. */
  measure?(): Promise<readonly Measurement[]>;
  /** Lists all argument bounds in `tools/list`, as a specification demands. */
  listsBounds?: boolean;
  /** Accepts integers and booleans as text, like the original server. */
  readsNumbers?: boolean;
  /** Adapts outgoing errors to a specification. */
  translate?(error: CarrelError): CarrelError;
  /**
   * A view limited to the data that these rights allow; it needs no closing. Returns undefined if the toolset can't be
   * limited. Absent if the toolset has no data that rights restrict.
   */
  scopedTo?(rights: Rights): Toolset | undefined;
  close?(): Promise<void>;
}

/** The toolsets that these rights allow, each limited to visible data. */
export function scopeToolsets(toolsets: readonly Toolset[], rights: Rights): Toolset[] {
  return toolsets
    .filter(({ name }) => rights.toolsets?.includes(name) ?? true)
    .flatMap((toolset) => (toolset.scopedTo ? (toolset.scopedTo(rights) ?? []) : toolset));
}

/** Whether a call may return a job handle. The tool then has the argument `wait`. */
export function mayBecomeJob(tool: Tool, toolset: Toolset): boolean {
  return toolset.slowCallMs !== undefined && tool.takesNoSlot !== true;
}
