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
  /** How long requests may still be answered after the client has closed its end. */
  drainMs: number;
}

/** Where a client's lines are answered. Lines have numbers, so that a relay knows which still wait. */
export interface LineOutput {
  /** Writes a message as a line; `answers` is the number of the line that it answers. */
  write(message: object, answers?: number): void;
  /** The line gets no answer: it asked for none, or was cancelled. */
  settle?(line: number): void;
  /** The line changed the session: a process that takes the session over must begin with this line. */
  keep?(line: number): void;
  /** Waits while much of what was written is unread. */
  hasRoom?(): Promise<void>;
  end(): Promise<void>;
}

/** The other side of the streams, in one of the two eras. */
export interface Peer {
  receive(incoming: Incoming[], batch: boolean, parsed: unknown, line: number): void;
  drain(ms: number): Promise<void>;
  close(): Promise<void>;
}
