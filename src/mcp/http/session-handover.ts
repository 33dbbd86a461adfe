import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../base/log.ts';
import type { Incoming } from '../messages/messages.ts';
import { noopSink } from '../sessions/conversation.ts';
import { watchedMax } from '../sessions/watches.ts';
import type { MovingSessions } from './moving-sessions.ts';
import type { Session } from './session.ts';

/** Keeps a session in sync between processes. */
export interface SessionHandover {
  /** Shares what these messages change in the session with other processes, before this one handles them. */
  prepare(session: Session, incoming: readonly Incoming[]): Promise<void>;
  /** Restores a session of another process by replaying its handshake and subscriptions. */
  takeOver(session: Session, handshake: Record<string, unknown>): Promise<void>;
  /** Prevents other processes from continuing an ended session. */
  end(id: string): Promise<void>;
}

const initialized: Incoming = { kind: 'notification', method: 'notifications/initialized', params: undefined };
const repeatedId = { key: 'adopted', value: 'adopted' };
const subscribing: ReadonlySet<string> = new Set(['resources/subscribe', 'resources/unsubscribe']);
const uriUnitsMax = 4_096;
const completedWithinMs = 1_000;
const pollMs = 50;

export function createSessionHandover(moving: MovingSessions, log: Logger): SessionHandover {
  return {
    async prepare(session, incoming) {
      const { id, callerKey, conversation } = session;
      moving.use(id);
      for (const item of incoming) {
        if (item.kind === 'request' && item.method === 'initialize') {
          await moving.keep(id, callerKey, item.params ?? {}).catch(logUnsaved);
        } else if (item.kind === 'request' && !conversation.isReady) {
          await completed(session);
        } else if (item.kind === 'notification' && item.method === 'notifications/initialized') {
          await moving.complete(id).catch(logUnsaved);
        } else if (item.kind === 'response' || item.kind === 'notification') moving.passIn(id, item);
        if (item.kind === 'request' && subscribing.has(item.method)) await passSubscription(id, item).catch(logUnsaved);
      }
    },
    async takeOver({ id, conversation }, handshake) {
      const repeat = (method: string, params: Record<string, unknown>) =>
        conversation.receive({ kind: 'request', id: repeatedId, method, params }, noopSink);
      await repeat('initialize', handshake);
      if (!(await moving.isComplete(id))) return;
      await conversation.receive(initialized, noopSink);
      for (const uri of await moving.subscriptions(id)) await repeat('resources/subscribe', { uri });
    },
    async end(id) {
      await moving.end(id).catch(logUnsaved);
    },
  };

  /** Passes a subscription to every process with the session: any of them may have the client's stream, now or later. */
  async function passSubscription(id: string, item: Incoming & { kind: 'request' }): Promise<void> {
    const uri = item.params?.['uri'];
    if (typeof uri !== 'string' || uri.length > uriUnitsMax) return;
    if (item.method === 'resources/unsubscribe') await moving.unsubscribe(id, uri);
    else if ((await moving.subscriptions(id)).length < watchedMax) await moving.subscribe(id, uri);
    moving.passIn(id, item);
  }

  /** Waits until the handshake is complete: `notifications/initialized` may reach another process. */
  async function completed({ id, conversation }: Session): Promise<void> {
    for (let waitedMs = 0; waitedMs < completedWithinMs && !conversation.isReady; waitedMs += pollMs) {
      if (await moving.isComplete(id).catch(() => false)) {
        await conversation.receive(initialized, noopSink);
        return;
      }
      await delay(pollMs);
    }
  }

  function logUnsaved(error: unknown): void {
    log.warn('could not store a session, so other processes cannot continue it', {
      reason: error instanceof Error ? error.message : '',
    });
  }
}
