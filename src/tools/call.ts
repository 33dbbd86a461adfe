import type { Logger } from '../base/log.ts';
import { fullRights, type Principal } from '../base/rights.ts';
import type { AnsweredQuestions } from './question.ts';

export interface Caller extends Principal {
  /** Identifies the caller for quotas and uploads: a principal's identity, else an address. */
  id: string;
  /** Owner of handles such as job ids, which nobody else may use: a principal's identity, else the session. */
  owner: string;
  /** True if a token proved the identity. */
  authenticated?: boolean;
  /** Resolves once the client has read enough of its buffered output. */
  drained?: () => Promise<void>;
  /** The server's URL as the client reached it, such as `http://127.0.0.1:3000`; absent on stdio. */
  serverOrigin?: string;
}

/** The client's name and version as it reports them, unverified. */
export interface ClientName {
  name: string;
  version: string;
}

export interface Progress {
  /** Must increase with every report of a call. */
  progress: number;
  total?: number;
  message?: string;
}

/** The local user, who needs no token and may do everything. */
export const localUser: Principal = { name: 'local', identity: 'local', rights: fullRights };

/** The context of one call, for the code that performs it. */
export interface Call {
  caller: Caller;
  client?: ClientName | undefined;
  /** Aborts when the client cancels or disconnects. All work for the call must then stop. */
  signal: AbortSignal;
  /** Does nothing unless the client asked for progress. */
  report(progress: Progress): void;
  log: Logger;
  /** Max bytes per answer; see answers/answer-limit.ts. */
  answerBytesMax?: number;
  /** Folders that the client exposes, as local paths; absent if the client is remote or names none. */
  roots?: () => Promise<readonly string[]>;
  /** The tool's questions with the user's answers; absent if nobody could be asked. */
  answered?: AnsweredQuestions;
}
