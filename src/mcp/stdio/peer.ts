import type { Logger } from '../../base/log.ts';
import type { Caller } from '../../tools/call.ts';
import type { Incoming, MessageLimits } from '../messages/messages.ts';
import type { SupportedRevisions } from '../protocol-versions.ts';
import type { OpenConversation } from '../sessions/conversation.ts';
import type { ModernProtocol } from '../sessions/modern-answers.ts';
import type { SubscriptionStreams } from '../sessions/subscription-streams.ts';

export interface ClientLinesOptions {
  output: LineOutput;
  limits: MessageLimits;
  revisions: SupportedRevisions;
  log: Logger;
  openConversation: OpenConversation;
  modern(): Promise<ModernProtocol>;
  caller: Caller;
  subscriptions: SubscriptionStreams;
  /** How long requests may still be answered after the client closed its input. */
  drainMs: number;
}

/** Receives the answers to a client's lines. The lines are numbered, so that a relay knows which are unanswered. */
export interface LineOutput {
  /** Writes a message as a line. `answeredLine` is the number of the line that it answers. */
  write(message: object, answeredLine?: number): void;
  /** Reports that a line gets no answer: it is not a request, or was cancelled. */
  noAnswer?(line: number): void;
  /** Reports that a line changed the session. It must be replayed if another process takes over the session. */
  keep?(line: number): void;
  /** Resolves once the client has read enough of its answers. */
  drained?(): Promise<void>;
  end(): Promise<void>;
}

/** Handles a client's messages: with a handshake, or in a revision without one. */
export interface Peer {
  receive(incoming: Incoming[], batch: boolean, parsed: unknown, line: number): void;
  drain(ms: number): Promise<void>;
  close(): Promise<void>;
}

/** Lets callers wait until no requests are pending. */
export function createIdleSignal() {
  const waiting = new Set<() => void>();
  return {
    check(): void {
      for (const check of waiting) check();
    },
    wait(isIdle: () => boolean, ms: number): Promise<void> {
      return new Promise((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          waiting.delete(check);
          resolve();
        };
        const check = (): void => {
          if (isIdle()) done();
        };
        const timer = setTimeout(done, ms);
        waiting.add(check);
        check();
      });
    },
  };
}
