import type { Logger } from '../base/log.ts';
import { fullRights, type Principal } from '../base/rights.ts';
import type { Asked } from './question.ts';

export interface Caller extends Principal {
  /** Who quotas are counted for, and who may go on with an upload: a principal's identity, else an address. */
  id: string;
  /** Whose handles (job ids and the like) these are: a principal's, else one session's. Others must not reach them. */
  owner: string;
  /** Whether a token proved who it is. */
  authenticated?: boolean;
  /** Waits until the client has read what was written to it, where that is kept in memory meanwhile. */
  hasRoom?: () => Promise<void>;
  /** Where it reached this server over HTTP, such as `http://127.0.0.1:3000`; absent on stdio. */
  reachedAt?: string;
}

/** What a client says it is. Nobody checks that. */
export interface ClientName {
  name: string;
  version: string;
}

export interface Progress {
  /** Must grow with every report of the same call. */
  progress: number;
  total?: number;
  message?: string;
}

/** Whoever needs no token: the person at this machine, who may do everything. */
export const localUser: Principal = { name: 'local', identity: 'local', rights: fullRights };

/** The context of one call, for the code that carries it out. */
export interface Call {
  caller: Caller;
  client?: ClientName | undefined;
  /** Aborts when the client cancels or goes away; work underneath must stop with it. */
  signal: AbortSignal;
  /** Does nothing when the client did not ask for progress. */
  report(progress: Progress): void;
  log: Logger;
  /** The longest answer, in bytes; see answer-limit. */
  answerBytesMax?: number;
  /** Folders that the client opens to servers, as paths of this machine; absent where it is elsewhere or names none. */
  roots?: () => Promise<readonly string[]>;
  /** The tool's questions and what the user answered; absent if nobody could be asked. */
  asked?: Asked;
}
