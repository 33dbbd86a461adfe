import { createHash, randomBytes } from 'node:crypto';
import { isObject } from '../../base/json.ts';
import type { SharedStore } from '../../base/shared-store.ts';
import type { Incoming } from '../messages/messages.ts';

/**
 * Sessions that a load balancer may route to any process on the same database. Each process that gets a request opens the
 * session by replaying its handshake. Messages for a request or stream of another process are forwarded.
 */
export interface MovingSessions {
  /** This process's tag; keeps generated ids unique across processes. */
  readonly tag: string;
  /** Stores the handshake. Resolves once other processes can open the session. */
  keep(id: string, callerKey: string, handshake: Record<string, unknown>): Promise<void>;
  /** Returns the session's handshake. Undefined if the session has expired or belongs to another caller. */
  find(id: string, callerKey: string): Promise<Record<string, unknown> | undefined>;
  /** Marks the handshake as complete. */
  complete(id: string): Promise<void>;
  isComplete(id: string): Promise<boolean>;
  /** Records a subscription for all processes. */
  subscribe(id: string, uri: string): Promise<void>;
  unsubscribe(id: string, uri: string): Promise<void>;
  subscriptions(id: string): Promise<string[]>;
  /** Extends the session's lifetime. */
  use(id: string): void;
  end(id: string): Promise<void>;
  /** Forwards a message to the process that waits for it. */
  passIn(id: string, incoming: Incoming): void;
  /** Forwards a message to the process with the client's stream. */
  passOut(id: string, message: object): void;
  listen(listener: SessionListener): () => void;
}

export interface SessionListener {
  ended(id: string): void;
  passedIn(id: string, incoming: Incoming): void;
  passedOut(id: string, message: object): void;
}

const kind = 'session';
const handshakePart = 0;
const completePart = 1;
/** Subscriptions have part numbers from here on, computed from a hash of their URI. */
const firstSubscription = 16;
/** Max size of a handshake that is shared. A session with a longer one stays in its process. */
const handshakeBytesMax = 16 * 1024;

export function createMovingSessions(shared: SharedStore, { idleMs }: { idleMs: number }): MovingSessions {
  const usedAt = new Map<string, number>();
  const touchMs = idleMs / 4;
  return {
    tag: randomBytes(6).toString('hex'),
    async keep(id, callerKey, handshake) {
      const content = Buffer.from(JSON.stringify({ callerKey, handshake }));
      if (content.length <= handshakeBytesMax) await shared.put({ kind, id, part: handshakePart }, content, idleMs);
    },
    async find(id, callerKey) {
      const bytes = await shared.read({ kind, id, part: handshakePart });
      const stored: unknown = bytes && JSON.parse(bytes.toString());
      return isObject(stored) && stored['callerKey'] === callerKey && isObject(stored['handshake'])
        ? stored['handshake']
        : undefined;
    },
    async complete(id) {
      await shared.put({ kind, id, part: completePart }, Buffer.alloc(0), idleMs);
    },
    isComplete: async (id) => (await shared.read({ kind, id, part: completePart })) !== undefined,
    subscribe: (id, uri) => shared.put(subscriptionOf(id, uri), Buffer.from(uri), idleMs),
    unsubscribe: (id, uri) => shared.remove({ kind, id }, [subscriptionOf(id, uri).part]),
    async subscriptions(id) {
      const parts = (await shared.list({ kind, ids: [id] })).filter(({ part }) => part >= firstSubscription);
      const uris = await Promise.all(parts.map(({ part }) => shared.read({ kind, id, part })));
      return uris.flatMap((uri) => (uri === undefined ? [] : [uri.toString()]));
    },
    use(id) {
      const now = performance.now();
      if (now - (usedAt.get(id) ?? Number.NEGATIVE_INFINITY) < touchMs) return;
      for (const [each, at] of usedAt) if (now - at > idleMs) usedAt.delete(each);
      usedAt.set(id, now);
      // A failure is ignored: the entry lives four times longer than this interval, so a later use retries in time.
      shared.touch({ kind, id }, idleMs).catch(() => {});
    },
    async end(id) {
      await shared.remove({ kind, id });
      shared.notify({ about: 'session', id, what: 'ended' });
    },
    passIn: (id, incoming) => shared.notify({ about: 'session', id, what: 'in', message: incoming }),
    passOut: (id, message) => shared.notify({ about: 'session', id, what: 'out', message }),
    listen: (listener) =>
      shared.onNotice((notice) => {
        if (notice.about !== 'session') return;
        if (notice.what === 'ended') listener.ended(notice.id);
        else if (notice.what === 'out') listener.passedOut(notice.id, notice.message);
        // The other process has already parsed the message.
        else listener.passedIn(notice.id, notice.message as Incoming);
      }),
  };
}

function subscriptionOf(id: string, uri: string) {
  return { kind, id, part: firstSubscription + createHash('sha256').update(uri).digest().readUIntBE(0, 6) };
}
