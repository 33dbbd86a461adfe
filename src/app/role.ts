import type { Logger } from '../base/log.ts';
import type { Slice } from '../config/field.ts';
import type { Config, FieldOverride } from '../config/load.ts';
import type { OfferedRevisions } from '../mcp/protocol-versions.ts';
import type { Toolset } from '../tools/toolset.ts';

/** One way to run the program: which toolsets, under which settings. */
export interface Role {
  name: string;
  summary: string;
  /** What clients are told about the server as a whole. */
  instructions: string;
  /** Settings beyond the program's own. */
  slices: readonly Slice[];
  overrides: Readonly<Record<string, FieldOverride>>;
  revisions: OfferedRevisions;
  /** Exposes so much that it must not listen beyond loopback without a token. */
  tokenBeyondLoopback: boolean;
  /** Also takes JSON-RPC without a handshake. */
  bareCalls: boolean;
  /** Reads `.env` in the current folder. */
  envFile: boolean;
  /** On stdio, where only the one who started us writes, a message may have at least so many bytes. */
  stdioBytesMin?: number;
  /** Refuses settings that contradict one another, before anything is opened or written. */
  check?(config: Config): void;
  openToolsets(config: Config, log: Logger): Promise<Toolset[]>;
}
