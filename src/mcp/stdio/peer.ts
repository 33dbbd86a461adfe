import type { Logger } from '../../base/log.ts';
import type { Caller } from '../../tools/call.ts';
import type { Incoming, MessageLimits } from '../messages/messages.ts';
import type { OfferedRevisions } from '../protocol-versions.ts';
import type { OpenConversation } from '../sessions/conversation.ts';
import type { Modern } from '../sessions/modern-answers.ts';
import type { Listen } from '../sessions/subscription-streams.ts';

export interface ClientLinesOptions {
  output: LineOutput;
  limits: MessageLimits;
  revisions: OfferedRevisions;
  log: Logger;
  openConversation: OpenConversation;
  modern(): Promise<Modern>;
  caller: Caller;
  listen: Listen;
  /** How long requests may still be answered after the client closed its input. */
  drainMs: number;
}

/** Receives the answers to a client's lines. Lines are numbered, so that a relay knows which are pending. */
export interface LineOutput {
  /** Writes a message as a line; `answers` is the line it answers. */
  write(message: object, answers?: number): void;
  /** The line gets no answer: it asked for none, or was cancelled. */
  noAnswer?(line: number): void;
  /** The line changed the session and must be replayed by a process that takes it over. */
  keep?(line: number): void;
  /** Resolves once the client has read enough. */
  drained?(): Promise<void>;
  end(): Promise<void>;
}

/** The other side of the streams, in one of the two eras. */
export interface Peer {
  receive(incoming: Incoming[], batch: boolean, parsed: unknown, line: number): void;
  drain(ms: number): Promise<void>;
  close(): Promise<void>;
}
