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
import type { Tool } from './tool.ts';

/**
 * How failures are sent, as the toolset's specification demands. `jsonrpc`: a JSON-RPC error, where `codes` overrides
 * the default code of a kind. `result`: a tool result with `isError`. The `serve` command sends all failures as
 * results.
 */
export type FailureStyle = { as: 'jsonrpc'; codes?: Partial<Record<ErrorKind, number>> } | { as: 'result' };

/** Facts about a toolset, under its name. */
export type Announcement = Record<string, Record<string, string | Record<string, string>>>;

export interface Toolset {
  name: string;
  tools: readonly Tool[];
  /** Tools of the web console, which MCP clients can neither see nor call. */
  consoleTools?: readonly Tool[];
  failures: FailureStyle;
  /** When to use these tools, for servers with several toolsets. */
  instructions?: string;
  quotas?: Readonly<Record<string, Quota>>;
  resources?: readonly ResourceProvider[];
  prompts?: readonly Prompt[];
  sources?: readonly SearchSource[];
  /** Texts in which `verify` looks up quotations. */
  citable?: readonly CitableTexts[];
  /** The original file of a document, byte for byte, for the console. */
  original?(id: number, signal: AbortSignal): Promise<FileToSend>;
  /** HTTP routes that need no token, because the path contains a secret. They carry files that should not pass through the model. */
  secretRoutes?: readonly SecretRoute[];
  /** A call that takes longer returns a job handle and continues. If undefined, callers wait. */
  slowCallMs?: number;
  /** Concurrency limit for this toolset. If undefined, only the program's limit applies. */
  inFlight?: SlotsOptions;
  /** Fields that `initialize` adds to `serverInfo` and `capabilities.experimental`. */
  announce?: { serverInfo: Record<string, unknown>; experimental: Announcement };
  /** Facts for `GET /health`. Must be fast and must not throw. */
  health?(): Record<string, unknown>;
  /** Gauges for `/metrics`, polled. */
  measure?(): Promise<readonly Measurement[]>;
  /** True if `tools/list` shows all argument bounds, as some specifications demand. */
  listsBounds?: boolean;
  /** True if integers and booleans are also accepted as text, as mcp-context-server does. */
  acceptsTextValues?: boolean;
  /** Adapts outgoing errors to the toolset's specification. */
  translate?(error: CarrelError): CarrelError;
  /**
   * Returns a view of the toolset with only the data that these rights allow; it need not be closed. Returns
   * undefined if the toolset can't be limited. Toolsets without restricted data don't have this method.
   */
  scopedTo?(rights: Rights): Toolset | undefined;
  close?(): Promise<void>;
}

/** Returns the toolsets that these rights allow, each limited to the data that the rights allow. */
export function scopeToolsets(toolsets: readonly Toolset[], rights: Rights): Toolset[] {
  return toolsets
    .filter(({ name }) => rights.toolsets?.includes(name) ?? true)
    .flatMap((toolset) => (toolset.scopedTo ? (toolset.scopedTo(rights) ?? []) : toolset));
}

/** Returns true if a call may return a job handle. The tool then has the argument `wait`. */
export function mayBecomeJob(tool: Tool, toolset: Toolset): boolean {
  return toolset.slowCallMs !== undefined && tool.takesNoSlot !== true;
}

/**
 * HTTP paths that a toolset serves itself. They need no token, because each contains a one-time secret that was
 * issued to one caller. The toolset enforces single use and expiry.
 */
export interface SecretRoute {
  /** Such as `/kb/uploads/`. */
  pathPrefix: string;
  /** The accepted HTTP method. */
  method: string;
  /** If it fails, throws a `CarrelError` with a message for the client. */
  handle(request: SecretRequest): Promise<object>;
}

interface SecretRequest {
  /** The path after the prefix, without the query. */
  subpath: string;
  /** As declared by the client. */
  contentLength: number | undefined;
  /** Throws if the upload aborts or stalls. May be left unread. */
  body: AsyncIterable<Uint8Array>;
  signal: AbortSignal;
}
