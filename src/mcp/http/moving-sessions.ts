import { createHash, randomBytes } from 'node:crypto';
import { isObject } from '../../base/json.ts';
import type { SharedStore } from '../../base/shared-store.ts';
import type { Incoming } from '../messages/messages.ts';

/**
 * Sessions that a balancer may send to any process on the same database. Each process that gets a request of one opens it as if
 * it had heard its handshake. What belongs to a request or a stream of another process is passed on.
 */
export interface MovingSessions {
  /** Of this process: part of the ids that it gives out, so that no two give out the same. */
  readonly tag: string;
  /** Resolves when other processes can open it. */
  keep(id: string, callerKey: string, handshake: Record<string, unknown>): Promise<void>;
  /** What the client opened it with; undefined if it is not theirs, or has expired. */
  find(id: string, callerKey: string): Promise<Record<string, unknown> | undefined>;
  /** The client has ended its handshake. */
  complete(id: string): Promise<void>;
  isComplete(id: string): Promise<boolean>;
  /** What the client has subscribed to, in any process. */
  subscribe(id: string, uri: string): Promise<void>;
  unsubscribe(id: string, uri: string): Promise<void>;
  subscriptions(id: string): Promise<string[]>;
  /** It goes on being kept. */
  use(id: string): void;
  end(id: string): Promise<void>;
  /** To the process that waits for it. */
  passIn(id: string, incoming: Incoming): void;
  /** To the process that has the client's stream. */
  passOut(id: string, message: object): void;
  listen(hearing: Hearing): () => void;
}

export interface Hearing {
  ended(id: string): void;
  passedIn(id: string, incoming: Incoming): void;
  passedOut(id: string, message: object): void;
}

const kind = 'session';
const handshakePart = 0;
const completePart = 1;
/** Subscriptions follow, each under a number made from its URI. */
const firstSubscription = 16;
/** With a longer one a session stays where it is. */
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
      const kept: unknown = bytes && JSON.parse(bytes.toString());
      return isObject(kept) && kept['callerKey'] === callerKey && isObject(kept['handshake'])
        ? kept['handshake']
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
      // The next use tries again soon enough: it lasts four times as long.
      shared.touch({ kind, id }, idleMs).catch(() => {});
    },
    async end(id) {
      await shared.remove({ kind, id });
      shared.tell({ about: 'session', id, what: 'ended' });
    },
    passIn: (id, incoming) => shared.tell({ about: 'session', id, what: 'in', message: incoming }),
    passOut: (id, message) => shared.tell({ about: 'session', id, what: 'out', message }),
    listen: (hearing) =>
      shared.onNotice((notice) => {
        if (notice.about !== 'session') return;
        if (notice.what === 'ended') hearing.ended(notice.id);
        else if (notice.what === 'out') hearing.passedOut(notice.id, notice.message);
        // As the other process has read it.
        else hearing.passedIn(notice.id, notice.message as Incoming);
      }),
  };
}

function subscriptionOf(id: string, uri: string) {
  return { kind, id, part: firstSubscription + createHash('sha256').update(uri).digest().readUIntBE(0, 6) };
}
