import type { Logger, LogSink } from '../base/log.ts';
import type { Slice } from '../config/field.ts';
import type { Config, FieldOverride } from '../config/load.ts';
import type { CallJobs } from '../jobs/call-jobs.ts';
import { everyRevision, type SupportedRevisions } from '../mcp/protocol-versions.ts';
import type { Telemetry } from '../telemetry/open-telemetry.ts';
import type { Toolset } from '../tools/toolset.ts';
import type { SharedServices } from './shared-services.ts';

export type Flags = Readonly<Record<string, string | boolean | undefined>>;

/** One way to run the program: its toolsets and settings. */
export interface Role {
  name: string;
  /** Server instructions for clients. */
  instructions: string;
  /** Additional instructions per served toolset. */
  toolsetInstructions?: Readonly<Record<string, string>>;
  /** The role's settings, in addition to those of every role. */
  slices: readonly Slice[];
  overrides: Readonly<Record<string, FieldOverride>>;
  /** MCP revisions; all by default. */
  revisions?: SupportedRevisions;
  /** True if listening beyond loopback requires a token. */
  tokenBeyondLoopback?: boolean;
  /** True if the role serves the web console over HTTP. */
  hasConsole?: boolean;
  /** True if JSON-RPC calls without a handshake are accepted. */
  acceptsBareCalls?: boolean;
  /** HTTP only: variables read from `.env` in the current folder. */
  envFile?: readonly string[];
  /** Raises the message size limit to at least this on stdio, where the client is trusted. */
  stdioMessageBytesMax?: number;
  /**
   * Reads the role's own configuration file, if it has one, and returns the completed role. The program's configuration file is
   * then not read.
   */
  prepare?(flags: Flags, env: NodeJS.ProcessEnv): Promise<Role>;
  /** Warnings about the role's own configuration file, for the log. */
  warnings?: readonly string[];
  /** Opens the role's own log, which replaces the one in the data folder. */
  openLog?(debug: boolean): LogSink;
  /** False if HTTP answers are plain JSON, without event streams. */
  streams?: boolean;
  /** Rejects contradictory settings before anything is opened or written. */
  check?(config: Config): void;
  /** Environment variables for the data folder, in order of precedence. Default: CARREL_HOME. */
  dataDirVariables?: readonly string[];
  /** Serves something other than MCP over HTTP. Such a role has no toolsets. */
  serve?(config: Config, log: Logger, telemetry: Telemetry): Promise<RoleService>;
  openToolsets(config: Config, log: Logger, jobs: CallJobs, shared: SharedServices): Promise<Toolset[]>;
}

export function revisionsOf({ revisions = everyRevision }: Role): SupportedRevisions {
  return revisions;
}

export interface RoleService {
  readonly url: string;
  /** Stops accepting requests. Aborts running requests after the grace period. */
  close(graceMs: number): Promise<void>;
}

export interface Program {
  /** The server's URL; undefined on stdio. */
  readonly url: string | undefined;
  /** Resolves when nothing is left to serve. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/** Grace period for running calls after SIGTERM. The whole shutdown must take less than five seconds. */
export const stopGraceMs = 3_000;
