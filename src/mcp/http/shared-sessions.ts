import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { isObject } from '../../base/json.ts';
import type { Logger } from '../../base/log.ts';
import type { SharedStore } from '../../base/shared-store.ts';
import type { Incoming } from '../messages/messages.ts';
import { noopSink } from '../sessions/conversation.ts';
import { watchedMax } from '../sessions/watches.ts';
import type { Session } from './session.ts';

export interface SessionListener {
  ended(id: string): void;
  /** Called with a client's message that another process received. */
  incoming(id: string, incoming: Incoming): void;
  /** Called with a message for a client whose stream may be in this process. */
  outgoing(id: string, message: object): void;
}

const kind = 'session';
const handshakePart = 0;
const completePart = 1;
/** Lowest part number of a subscription. A hash of its URI is added. */
const firstSubscription = 16;
/** Max size of a handshake that is shared. A session with a longer one stays in its process. */
const handshakeBytesMax = 16 * 1024;
const uriUnitsMax = 4_096;
/** Max wait for `notifications/initialized`, which may reach another process. */
const completeWaitMs = 1_000;
const pollMs = 50;

const initialized: Incoming = { kind: 'notification', method: 'notifications/initialized', params: undefined };
const replayId = { key: 'adopted', value: 'adopted' };

/**
 * Shares sessions between all processes on the same database, because a load balancer may route a session's requests to any of
 * them. A process opens another one's session by replaying its handshake. Messages for other processes are forwarded.
 */
export function createSharedSessions(shared: SharedStore, { idleMs }: { idleMs: number }, log: Logger) {
  const usedAt = new Map<string, number>();
  const touchMs = idleMs / 4;
  const isComplete = async (id: string) => (await shared.read({ kind, id, part: completePart })) !== undefined;

  return {
    /** This process's tag; keeps generated ids unique across processes. */
    tag: randomBytes(6).toString('hex'),
    /** Returns the session's handshake. Undefined if the session has expired or belongs to another caller. */
    async find(id: string, callerKey: string): Promise<Record<string, unknown> | undefined> {
      const bytes = await shared.read({ kind, id, part: handshakePart });
      const stored: unknown = bytes && JSON.parse(bytes.toString());
      const isOwn = isObject(stored) && stored['callerKey'] === callerKey && isObject(stored['handshake']);
      return isOwn ? (stored['handshake'] as Record<string, unknown>) : undefined;
    },
    use,
    /** Shares the session changes in these messages with other processes. Call it before handling the messages. */
    async prepare(session: Session, incoming: readonly Incoming[]): Promise<void> {
      const { id, callerKey, conversation } = session;
      use(id);
      for (const item of incoming) {
        if (item.kind === 'request' && item.method === 'initialize') {
          await storeHandshake(id, callerKey, item.params ?? {}).catch(logUnsaved);
        } else if (item.kind === 'request' && !conversation.isReady) {
          await waitUntilComplete(session);
        } else if (item.kind === 'notification' && item.method === 'notifications/initialized') {
          await shared.put({ kind, id, part: completePart }, Buffer.alloc(0), idleMs).catch(logUnsaved);
        } else if (item.kind === 'response' || item.kind === 'notification') forwardIncoming(id, item);
        if (item.kind === 'request' && /^resources\/(?:un)?subscribe$/.test(item.method)) {
          await shareSubscription(id, item).catch(logUnsaved);
        }
      }
    },
    /** Restores a session of another process by replaying its handshake and subscriptions. */
    async restore({ id, conversation }: Session, handshake: Record<string, unknown>): Promise<void> {
      const replay = (method: string, params: Record<string, unknown>) =>
        conversation.receive({ kind: 'request', id: replayId, method, params }, noopSink);
      await replay('initialize', handshake);
      if (!(await isComplete(id))) return;
      await conversation.receive(initialized, noopSink);
      for (const uri of await subscriptions(id)) await replay('resources/subscribe', { uri });
    },
    /** Prevents other processes from continuing an ended session. */
    async end(id: string): Promise<void> {
      try {
        await shared.remove({ kind, id });
        shared.notify({ about: 'session', id, what: 'ended' });
      } catch (error) {
        logUnsaved(error);
      }
    },
    /** Forwards a message to the process with the client's stream. */
    forwardOutgoing: (id: string, message: object) => shared.notify({ about: 'session', id, what: 'out', message }),
    listen: (listener: SessionListener) =>
      shared.onNotice((notice) => {
        if (notice.about !== 'session') return;
        if (notice.what === 'ended') listener.ended(notice.id);
        else if (notice.what === 'out') listener.outgoing(notice.id, notice.message);
        // The other process has already parsed the message.
        else listener.incoming(notice.id, notice.message as Incoming);
      }),
  };

  /** Extends the session's lifetime. */
  function use(id: string): void {
    const now = performance.now();
    if (now - (usedAt.get(id) ?? Number.NEGATIVE_INFINITY) < touchMs) return;
    for (const [each, at] of usedAt) if (now - at > idleMs) usedAt.delete(each);
    usedAt.set(id, now);
    // A failure is ignored: the entry lives four times longer than this interval, so a later use retries in time.
    shared.touch({ kind, id }, idleMs).catch(() => {});
  }

  /** Stores the handshake. Resolves once other processes can open the session. */
  async function storeHandshake(id: string, callerKey: string, handshake: Record<string, unknown>): Promise<void> {
    const content = Buffer.from(JSON.stringify({ callerKey, handshake }));
    if (content.length <= handshakeBytesMax) await shared.put({ kind, id, part: handshakePart }, content, idleMs);
  }

  function forwardIncoming(id: string, incoming: Incoming): void {
    shared.notify({ about: 'session', id, what: 'in', message: incoming });
  }

  async function subscriptions(id: string): Promise<string[]> {
    const parts = (await shared.list({ kind, ids: [id] })).filter(({ part }) => part >= firstSubscription);
    const uris = await Promise.all(parts.map(({ part }) => shared.read({ kind, id, part })));
    return uris.flatMap((uri) => (uri === undefined ? [] : [uri.toString()]));
  }

  /** Shares a subscription with every process: any of them may have the client's stream, now or later. */
  async function shareSubscription(id: string, item: Incoming & { kind: 'request' }): Promise<void> {
    const uri = item.params?.['uri'];
    if (typeof uri !== 'string' || uri.length > uriUnitsMax) return;
    const part = firstSubscription + createHash('sha256').update(uri).digest().readUIntBE(0, 6);
    if (item.method === 'resources/unsubscribe') await shared.remove({ kind, id }, [part]);
    else if ((await subscriptions(id)).length < watchedMax)
      await shared.put({ kind, id, part }, Buffer.from(uri), idleMs);
    forwardIncoming(id, item);
  }

  async function waitUntilComplete({ id, conversation }: Session): Promise<void> {
    for (let waitedMs = 0; waitedMs < completeWaitMs && !conversation.isReady; waitedMs += pollMs) {
      if (await isComplete(id).catch(() => false)) {
        await conversation.receive(initialized, noopSink);
        return;
      }
      await delay(pollMs);
    }
  }

  function logUnsaved(error: unknown): void {
    const reason = error instanceof Error ? error.message : '';
    log.warn('could not store a session, so other processes cannot continue it', { reason });
  }
}
