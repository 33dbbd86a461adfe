import type { Logger, LogSink } from '../base/log.ts';
import type { Slice } from '../config/field.ts';
import type { Config, FieldOverride } from '../config/load.ts';
import type { CallJobs } from '../jobs/call-jobs.ts';
import type { OfferedRevisions } from '../mcp/protocol-versions.ts';
import type { Telemetry } from '../telemetry/open-telemetry.ts';
import type { Toolset } from '../tools/toolset.ts';
import type { SharedParts } from './shared-parts.ts';

export type Flags = Readonly<Record<string, string | boolean | undefined>>;

/** One way to run the program: which toolsets, under which settings. */
export interface Role {
  name: string;
  /** What clients are told about the server as a whole. */
  instructions: string;
  /** What they are told about those toolsets that are served, by name. */
  toolsetInstructions?: Readonly<Record<string, string>>;
  /** Settings beyond the program's own. */
  slices: readonly Slice[];
  overrides: Readonly<Record<string, FieldOverride>>;
  revisions: OfferedRevisions;
  /** Exposes so much that it must not listen beyond loopback without a token. */
  tokenBeyondLoopback: boolean;
  /** Has pages for people, over HTTP. */
  hasConsole?: boolean;
  /** Also takes JSON-RPC without a handshake. */
  bareCalls: boolean;
  /** Over HTTP: the variables that are taken from `.env` in the current folder. */
  envFile?: readonly string[];
  /** On stdio, where only the client that started us writes, messages may have at least this many bytes. */
  stdioBytesMin?: number;
  /**
   * For a role with a configuration file of its own: reads it and returns the role as that file defines it. The program's
   * own file is then not read.
   */
  prepare?(flags: Flags, env: NodeJS.ProcessEnv): Promise<Role>;
  /** Remarks about the role's own file that are worth a line in the log. */
  warnings?: readonly string[];
  /** Where the role's log goes instead of the data folder. */
  openLog?(debug: boolean): LogSink;
  /** False: HTTP answers are JSON only. */
  streams?: boolean;
  /** Refuses settings that contradict one another, before anything is opened or written. */
  check?(config: Config): void;
  /** The variables that name the data folder, if not the usual ones. The first that is set counts. */
  dataDirVariables?: readonly string[];
  /** For a role that serves something other than MCP over HTTP: serves it. Such a role has no toolsets. */
  serve?(config: Config, log: Logger, telemetry: Telemetry): Promise<RoleService>;
  openToolsets(config: Config, log: Logger, jobs: CallJobs, shared: SharedParts): Promise<Toolset[]>;
}

export interface RoleService {
  readonly url: string;
  /** Stops accepting; what still runs after the grace time is given up. */
  close(graceMs: number): Promise<void>;
}

export interface Program {
  /** Where it listens; undefined on stdio. */
  readonly url: string | undefined;
  /** Settles when the program has nothing left to serve. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/** Time for running calls to end after SIGTERM; the whole stop must take less than five seconds. */
export const stopGraceMs = 3_000;
