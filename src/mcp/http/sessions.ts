import { randomUUID } from 'node:crypto';
import type { MessageLimits } from '../messages/messages.ts';
import type { Connection, Conversation } from '../sessions/conversation.ts';
import { createSession, type Session, type SessionElsewhere } from './session.ts';

export interface SessionLimits {
  sessionsMax: number;
  /** Sessions of one caller. */
  perCallerMax?: number;
  /** A session that has not been used for this long is closed. */
  idleMs: number;
}

export interface Sessions {
  readonly count: number;
  /** Undefined when all places are taken by active sessions. */
  open(
    callerKey: string,
    openConversation: (connection: Connection) => Conversation,
    onClosed?: () => void,
    /** The id of a session that another process has opened. */
    id?: string,
  ): Session | undefined;
  /** Regardless of who opened it. */
  get(id: string): Session | undefined;
  /** Another caller's session is as unknown as one that never existed. */
  find(id: string, callerKey: string): Session | undefined;
  end(session: Session): Promise<void>;
  closeAll(): Promise<void>;
}

const sweepMs = 30_000;

export function createSessions(
  { sessionsMax, perCallerMax = sessionsMax, idleMs }: SessionLimits,
  limits: Pick<MessageLimits, 'answerBytesMax'>,
  onEnd: (ms: number) => void = () => {},
  elsewhere?: (id: string) => SessionElsewhere,
): Sessions {
  const remembered = { bytes: 0 };
  // In the order of last use, so that the first idle one is the one to close.
  const sessions = new Map<string, Session>();

  const ends = new Map<string, () => void>();

  const end = async (session: Session): Promise<void> => {
    if (!sessions.delete(session.id)) return;
    onEnd(performance.now() - session.openedAt);
    ends.get(session.id)?.();
    ends.delete(session.id);
    await session.close();
  };

  const sweep = (): void => {
    const now = performance.now();
    for (const session of sessions.values()) {
      if (session.idle && now - session.lastUsedAt > idleMs) void end(session);
    }
  };
  const timer = setInterval(sweep, Math.min(sweepMs, idleMs)).unref();

  /** Ends the one of these that is missed least, if any can be ended. */
  const endOne = (candidates: readonly Session[]): boolean => {
    // An open stream alone keeps no session: its client can open another. One that was never used is missed by nobody.
    const waiting = candidates.filter(({ conversation }) => conversation.pending === 0);
    const unused = waiting.filter((session) => !session.used);
    const [victim] = [unused.filter(({ idle }) => idle), unused, waiting.filter(({ idle }) => idle), waiting].flat();
    if (victim === undefined) return false;
    void end(victim);
    return true;
  };

  /** The caller with most sessions loses one. */
  const makeRoom = (callerKey: string): boolean => {
    const byCaller = Map.groupBy(sessions.values(), (session) => session.callerKey);
    const own = byCaller.get(callerKey) ?? [];
    if (own.length >= perCallerMax && !endOne(own)) return false;
    if (sessions.size < sessionsMax) return true;
    return [...byCaller.values()].toSorted((a, b) => b.length - a.length).some(endOne);
  };

  return {
    get count() {
      return sessions.size;
    },
    open(callerKey, openConversation, onClosed, id = randomUUID()) {
      if (!makeRoom(callerKey)) return undefined;
      const session = createSession({
        id,
        callerKey,
        limits,
        remembered,
        open: openConversation,
        elsewhere: elsewhere?.(id),
      });
      sessions.set(id, session);
      if (onClosed) ends.set(id, onClosed);
      return session;
    },
    get: (id) => sessions.get(id),
    find(id, callerKey) {
      const session = sessions.get(id);
      if (session === undefined || session.callerKey !== callerKey) return undefined;
      session.lastUsedAt = performance.now();
      sessions.delete(id);
      sessions.set(id, session);
      return session;
    },
    end,
    async closeAll() {
      clearInterval(timer);
      await Promise.all([...sessions.values()].map(end));
    },
  };
}
