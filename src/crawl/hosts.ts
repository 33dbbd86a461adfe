import { setTimeout as delay } from 'node:timers/promises';
import { CarrelError, isCarrelError } from '../base/errors.ts';
import { createLeases, type Lease } from '../base/leases.ts';
import { hasExited } from '../jobs/lease-owner.ts';
import type { TakenHost } from '../storage/web/hosts.ts';
import type { WebStore } from '../storage/web/web.ts';
import type { SafeFetch } from '../web/safe-fetch.ts';
import { canonicalHost, type TargetList } from '../web/target-list.ts';
import { allowAll, type RobotsRules, readRobots, robotsBytesMax } from './robots.ts';

/** A host that this process has leased: no other process fetches from it until the release. */
export interface Host {
  /** Min pause between two requests, unless robots.txt asks for a longer Crawl-delay. */
  readonly pauseMs: number;
  robots(signal: AbortSignal): Promise<RobotsRules>;
  /** Calls `send` once no other request runs and the pause is over. Several runs of this process take turns. */
  request<T>(signal: AbortSignal, send: () => Promise<T>): Promise<T>;
  /** Delays the next request to this host, from any process. */
  postpone(waitMs: number): Promise<void>;
  release(): Promise<void>;
}

export interface HostsDeps {
  readonly web: Pick<WebStore, 'takeHost' | 'keepHost' | 'leaveHost'>;
  readonly fetch: SafeFetch;
  readonly owner: string;
  readonly userAgent: string;
  readonly ownHosts: TargetList;
  /** Aborted when the crawler stops: ends all waits for a lease. */
  readonly stopping: AbortSignal;
}

export type Hosts = (origin: string, signal: AbortSignal) => Promise<Host>;

const leaseMs = 30_000;
const pollMs = 1_000;
const pauseMs = 1_000;

/** How long robots.txt is cached. RFC 9309 allows a day. */
const robotsMs = 24 * 3_600_000;
const robotsAttempts = 3;

interface Held {
  /** Resolves when the last queued request has ended. */
  tail: Promise<unknown>;
  /** Earliest time of the next request, by performance.now(). */
  nextAt: number;
  isLeaseLost: boolean;
  rules: { readonly value: RobotsRules; readonly until: number } | undefined;
  close(): Promise<void>;
}

/** Leases hosts for this process, by origin. Several runs on one host share the lease. */
export function createHosts({ web, fetch, owner, userAgent, ownHosts, stopping }: HostsDeps): Hosts {
  const leases = new Map<string, () => Promise<Lease<Held>>>();

  return async (origin, signal) => {
    const take = leases.get(origin) ?? createLeases(() => takeHost(origin));
    leases.set(origin, take);
    const { part: held, release } = await unlessAborted(take(), signal);
    const ownPauseMs = isOwn(origin) ? 0 : pauseMs;

    async function request<T>(own: AbortSignal, send: () => Promise<T>): Promise<T> {
      const sending = held.tail.then(async () => {
        for (let waitMs = 1; waitMs > 0; ) {
          own.throwIfAborted();
          waitMs = Math.ceil(held.nextAt - performance.now());
          if (waitMs > 0) await delay(waitMs, undefined, { signal: own });
        }
        if (held.isLeaseLost) throw new Error('another process is fetching from this host');
        try {
          return await send();
        } finally {
          const pause = Math.max(ownPauseMs, held.rules?.value.delayMs ?? 0);
          held.nextAt = Math.max(held.nextAt, performance.now() + pause);
        }
      });
      held.tail = sending.catch(() => {});
      return sending;
    }

    return {
      pauseMs: ownPauseMs,
      request,
      async robots(own) {
        if (held.rules !== undefined && performance.now() < held.rules.until) return held.rules.value;
        const robots = await request(own, () => fetchRobots(origin, own));
        await web.keepHost({ host: origin, owner, leaseMs, robots });
        held.rules = rulesOf(robots.text, origin, robots.lastsMs);
        return held.rules.value;
      },
      async postpone(waitMs) {
        held.nextAt = Math.max(held.nextAt, performance.now() + waitMs);
        await web.keepHost({ host: origin, owner, leaseMs, waitMs });
      },
      release,
    };
  };

  /** Leases the host. Waits while another process holds the lease. */
  async function takeHost(host: string): Promise<Held> {
    for (let gone: string | undefined; ; ) {
      stopping.throwIfAborted();
      const lease = await web.takeHost({ host, owner, leaseMs, gone });
      if (!('heldBy' in lease)) return hold(host, lease);
      gone = hasExited(lease.heldBy) ? lease.heldBy : undefined;
      if (gone === undefined) await delay(pollMs, undefined, { signal: stopping });
    }
  }

  function hold(host: string, { robots, waitMs }: TakenHost): Held {
    const beat = setInterval(() => void renew(host, held), leaseMs / 3).unref();
    const held: Held = {
      ...{ tail: Promise.resolve(), nextAt: performance.now() + waitMs, isLeaseLost: false },
      rules: robots === undefined ? undefined : rulesOf(robots, host, robotsMs),
      async close() {
        clearInterval(beat);
        const left = Math.max(0, Math.round(held.nextAt - performance.now()));
        await web.leaveHost({ host, owner, waitMs: left });
      },
    };
    return held;
  }

  function isOwn(origin: string): boolean {
    const { hostname, port, protocol } = new URL(origin);
    const host = canonicalHost(hostname) ?? hostname;
    return ownHosts.matches({ host, port: Number(port) || (protocol === 'https:' ? 443 : 80) });
  }

  function rulesOf(text: string, origin: string, lastsMs: number) {
    return { value: readRobots(text, origin, userAgent), until: performance.now() + lastsMs };
  }

  async function renew(host: string, state: Held): Promise<void> {
    // A failed renewal changes nothing: the lease outlasts two of them. It is lost only if the database says so.
    state.isLeaseLost = !(await web.keepHost({ host, owner, leaseMs }).catch(() => !state.isLeaseLost));
  }

  /** Fetches robots.txt. A missing one allows everything. Throws if the host fails: then nothing is allowed (RFC 9309, 2.3.1). */
  async function fetchRobots(origin: string, signal: AbortSignal): Promise<{ text: string; lastsMs: number }> {
    const accept = 'text/plain,*/*;q=0.5';
    for (let attempt = 1; ; attempt += 1) {
      const answer = await fetch(`${origin}/robots.txt`, { signal, accept, bytesMax: robotsBytesMax }).then(
        ({ status, body }) => (status >= 200 && status < 300 ? new TextDecoder().decode(body) : status),
        (error: unknown) => {
          if (!isCarrelError(error)) throw error;
          if (error.code === 'too_large' || error.code === 'too_many_redirects') return 404;
          if (attempt === robotsAttempts || !['upstream', 'timeout'].includes(error.kind)) throw error;
          return 503;
        },
      );
      if (typeof answer === 'string') return { text: answer, lastsMs: robotsMs };
      if (answer >= 400 && answer < 500 && answer !== 429) return { text: allowAll, lastsMs: robotsMs };
      if (attempt === robotsAttempts) throw noRobots(origin, answer);
      await delay((isOwn(origin) ? 10 : pauseMs) * attempt, undefined, { signal });
    }
  }
}

function noRobots(origin: string, status: number): CarrelError {
  const { host } = new URL(origin);
  const message = `${host} answers requests for robots.txt with status ${status}, so nothing was fetched. Try again later.`;
  return new CarrelError('fetch_failed', message, { data: { host, status } });
}

/** Waits for the lease, but rejects when the signal aborts. A lease that arrives after that is released. */
async function unlessAborted(taking: Promise<Lease<Held>>, signal: AbortSignal): Promise<Lease<Held>> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    signal.throwIfAborted();
    return await Promise.race([taking, aborted.promise]);
  } catch (error) {
    void taking.then((lease) => lease.release()).catch(() => {});
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
