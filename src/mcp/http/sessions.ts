import { randomUUID } from 'node:crypto';
import type { MessageLimits } from '../messages/messages.ts';
import type { Connection, Conversation } from '../sessions/conversation.ts';
import { createSession, type Session, type SessionElsewhere } from './session.ts';

export interface SessionLimits {
  sessionsMax: number;
  /** Max sessions per caller. */
  perCallerMax?: number;
  /** Sessions unused for this long are closed. */
  idleMs: number;
}

export interface Sessions {
  readonly count: number;
  /** Undefined if all sessions are active. */
  open(
    callerKey: string,
    openConversation: (connection: Connection) => Conversation,
    onClosed?: () => void,
    /** The id of a session opened by another process. */
    id?: string,
  ): Session | undefined;
  /** Finds a session regardless of its owner. */
  get(id: string): Session | undefined;
  /** Another caller's session is reported as unknown. */
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
  // In order of last use, so the first idle one is closed first.
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

  /** Closes the least useful candidate, if any can be closed. */
  const endOne = (candidates: readonly Session[]): boolean => {
    // An open stream alone doesn't keep a session: its client can open another. Unused sessions go first.
    const waiting = candidates.filter(({ conversation }) => conversation.pending === 0);
    const unused = waiting.filter((session) => !session.used);
    const [victim] = [unused.filter(({ idle }) => idle), unused, waiting.filter(({ idle }) => idle), waiting].flat();
    if (victim === undefined) return false;
    void end(victim);
    return true;
  };

  /** Closes a session of the caller with the most sessions. */
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
