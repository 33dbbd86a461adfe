import { randomUUID } from 'node:crypto';
import type { MessageLimits } from '../messages/messages.ts';
import type { Connection, Conversation } from '../sessions/conversation.ts';
import { createSession, type OtherProcesses, type Session } from './session.ts';

export interface SessionLimits {
  sessionsMax: number;
  /** Max sessions per caller. */
  perCallerMax?: number;
  /** Time after which an unused session is closed. */
  idleMs: number;
}

const sweepMs = 30_000;

export function createSessions(
  { sessionsMax, perCallerMax = sessionsMax, idleMs }: SessionLimits,
  limits: Pick<MessageLimits, 'answerBytesMax'>,
  onEnd: (ms: number) => void = () => {},
  otherProcesses?: (id: string) => OtherProcesses,
) {
  const allLogs = { bytes: 0 };
  // In order of last use, so that the session unused for longest is closed first.
  const sessions = new Map<string, Session>();

  const closeCallbacks = new Map<string, () => void>();

  const end = async (session: Session): Promise<void> => {
    if (!sessions.delete(session.id)) return;
    onEnd(performance.now() - session.openedAt);
    closeCallbacks.get(session.id)?.();
    closeCallbacks.delete(session.id);
    await session.close();
  };

  const sweep = (): void => {
    const now = performance.now();
    for (const session of sessions.values()) {
      if (session.isIdle && now - session.lastUsedAt > idleMs) void end(session);
    }
  };
  const timer = setInterval(sweep, Math.min(sweepMs, idleMs)).unref();

  /** Closes the least useful of these sessions. Returns false if all have running requests. */
  const closeOne = (candidates: readonly Session[]): boolean => {
    // Prefers unused sessions, then idle ones, then sessions with only an open stream, which the client can reopen.
    const inactive = candidates.filter(({ conversation }) => conversation.pending === 0);
    const unused = inactive.filter((session) => !session.isUsed);
    const [victim] = [
      unused.filter(({ isIdle }) => isIdle),
      unused,
      inactive.filter(({ isIdle }) => isIdle),
      inactive,
    ].flat();
    if (victim === undefined) return false;
    void end(victim);
    return true;
  };

  /** Makes room for a session. At a limit, closes one of this caller, or one of the caller with the most sessions. */
  const makeRoom = (callerKey: string): boolean => {
    const byCaller = Map.groupBy(sessions.values(), (session) => session.callerKey);
    const ownSessions = byCaller.get(callerKey) ?? [];
    if (ownSessions.length >= perCallerMax && !closeOne(ownSessions)) return false;
    if (sessions.size < sessionsMax) return true;
    return [...byCaller.values()].toSorted((a, b) => b.length - a.length).some(closeOne);
  };

  return {
    get count(): number {
      return sessions.size;
    },
    /** Opens a session, if necessary by closing an idle one. Returns undefined if all are active. */
    open(
      callerKey: string,
      openConversation: (connection: Connection) => Conversation,
      onClosed?: () => void,
      /** The id, if another process opened the session. */
      id: string = randomUUID(),
    ): Session | undefined {
      if (!makeRoom(callerKey)) return undefined;
      const session = createSession({
        id,
        callerKey,
        limits,
        allLogs,
        open: openConversation,
        otherProcesses: otherProcesses?.(id),
      });
      sessions.set(id, session);
      if (onClosed) closeCallbacks.set(id, onClosed);
      return session;
    },
    /** Finds a session of any caller. */
    get: (id: string) => sessions.get(id),
    /** Finds a session of this caller. Another caller's session appears not to exist. */
    find(id: string, callerKey: string): Session | undefined {
      const session = sessions.get(id);
      if (session === undefined || session.callerKey !== callerKey) return undefined;
      session.lastUsedAt = performance.now();
      sessions.delete(id);
      sessions.set(id, session);
      return session;
    },
    end,
    async closeAll(): Promise<void> {
      clearInterval(timer);
      await Promise.all([...sessions.values()].map(end));
    },
  };
}
