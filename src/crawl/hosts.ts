import { setTimeout as delay } from 'node:timers/promises';
import robotsParser from 'robots-parser';
import { CarrelError, isCarrelError } from '../base/errors.ts';
import { createLeases, type Lease } from '../base/leases.ts';
import { hasExited } from '../jobs/lease-owner.ts';
import type { HostLease } from '../storage/web/hosts.ts';
import type { WebStore } from '../storage/web/web-store.ts';
import type { SafeFetch } from '../web/safe-fetch.ts';
import { canonicalHost, type TargetList } from '../web/target-list.ts';

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
  readonly web: Pick<WebStore, 'leaseHost' | 'renewHost' | 'releaseHost'>;
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
const robotsLifetimeMs = 24 * 3_600_000;
const robotsAttempts = 3;
/** Max bytes of a robots.txt. RFC 9309 requires at least 500 KiB. */
const robotsBytesMax = 512 * 1024;
/** Max Crawl-delay. A host that asks for more still gets one request an hour. */
const crawlDelayMaxMs = 3_600_000;

export type RobotsRules = ReturnType<typeof readRobots>;

/** The state of a leased host, shared by all runs of this process. */
interface LeasedHost {
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
  const leases = new Map<string, () => Promise<Lease<LeasedHost>>>();

  return async (origin, signal) => {
    const take = leases.get(origin) ?? createLeases(() => leaseHost(origin));
    leases.set(origin, take);
    const { resource: leased, release } = await unlessAborted(take(), signal);
    const minPauseMs = isOwn(origin) ? 0 : pauseMs;

    async function request<T>(signal: AbortSignal, send: () => Promise<T>): Promise<T> {
      const sending = leased.tail.then(async () => {
        for (;;) {
          signal.throwIfAborted();
          const waitMs = Math.ceil(leased.nextAt - performance.now());
          if (waitMs <= 0) break;
          await delay(waitMs, undefined, { signal });
        }
        if (leased.isLeaseLost) throw new Error('another process is fetching from this host');
        try {
          return await send();
        } finally {
          const pause = Math.max(minPauseMs, leased.rules?.value.delayMs ?? 0);
          leased.nextAt = Math.max(leased.nextAt, performance.now() + pause);
        }
      });
      leased.tail = sending.catch(() => {});
      return sending;
    }

    return {
      pauseMs: minPauseMs,
      request,
      async robots(signal) {
        if (leased.rules !== undefined && performance.now() < leased.rules.until) return leased.rules.value;
        const text = await request(signal, () => fetchRobots(origin, signal));
        await web.renewHost({ host: origin, owner, leaseMs, robots: { text, ttlMs: robotsLifetimeMs } });
        leased.rules = rulesOf(text, origin);
        return leased.rules.value;
      },
      async postpone(waitMs) {
        leased.nextAt = Math.max(leased.nextAt, performance.now() + waitMs);
        await web.renewHost({ host: origin, owner, leaseMs, waitMs });
      },
      release,
    };
  };

  /** Waits until no other process leases the host, then leases it. */
  async function leaseHost(host: string): Promise<LeasedHost> {
    for (let deadOwner: string | undefined; ; ) {
      stopping.throwIfAborted();
      const lease = await web.leaseHost({ host, owner, leaseMs, deadOwner });
      if (!('leasedBy' in lease)) return createLeased(host, lease);
      deadOwner = hasExited(lease.leasedBy) ? lease.leasedBy : undefined;
      if (deadOwner === undefined) await delay(pollMs, undefined, { signal: stopping });
    }
  }

  function createLeased(host: string, { robots, waitMs }: HostLease): LeasedHost {
    const timer = setInterval(() => void renew(host, leased), leaseMs / 3).unref();
    const leased: LeasedHost = {
      tail: Promise.resolve(),
      nextAt: performance.now() + waitMs,
      isLeaseLost: false,
      rules: robots === undefined ? undefined : rulesOf(robots, host),
      async close() {
        clearInterval(timer);
        const remainingMs = Math.max(0, Math.round(leased.nextAt - performance.now()));
        await web.releaseHost({ host, owner, waitMs: remainingMs });
      },
    };
    return leased;
  }

  function isOwn(origin: string): boolean {
    const { hostname, port, protocol } = new URL(origin);
    const host = canonicalHost(hostname) ?? hostname;
    return ownHosts.matches({ host, port: Number(port) || (protocol === 'https:' ? 443 : 80) });
  }

  function rulesOf(text: string, origin: string) {
    return { value: readRobots(text, origin, userAgent), until: performance.now() + robotsLifetimeMs };
  }

  async function renew(host: string, state: LeasedHost): Promise<void> {
    // An error leaves the state unchanged: the next renewal comes before the lease expires.
    state.isLeaseLost = !(await web.renewHost({ host, owner, leaseMs }).catch(() => !state.isLeaseLost));
  }

  /** Fetches robots.txt; empty if there is none. Throws if the host fails, because then nothing is allowed (RFC 9309, 2.3.1). */
  async function fetchRobots(origin: string, signal: AbortSignal): Promise<string> {
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
      if (typeof answer === 'string') return answer;
      if (answer >= 400 && answer < 500 && answer !== 429) return '';
      if (attempt === robotsAttempts) throw noRobots(origin, answer);
      await delay((isOwn(origin) ? 10 : pauseMs) * attempt, undefined, { signal });
    }
  }
}

function readRobots(text: string, origin: string, userAgent: string) {
  // The package is CommonJS, but its types describe an ES module.
  const parse = robotsParser as unknown as typeof robotsParser.default;
  const rules = parse(`${origin}/robots.txt`, text);
  const delaySeconds = Number(rules.getCrawlDelay(userAgent) ?? 0);
  return {
    allows: (url: string): boolean => rules.isAllowed(url, userAgent) !== false,
    delayMs: Number.isFinite(delaySeconds) ? Math.min(crawlDelayMaxMs, Math.max(0, delaySeconds) * 1000) : 0,
    sitemaps: rules.getSitemaps(),
  };
}

function noRobots(origin: string, status: number): CarrelError {
  const { host } = new URL(origin);
  const message = `${host} answers requests for robots.txt with status ${status}, so nothing was fetched. Try again later.`;
  return new CarrelError('fetch_failed', message, { data: { host, status } });
}

/** Waits for the lease. Rejects when the signal aborts, and releases a lease that arrives afterwards. */
async function unlessAborted(taking: Promise<Lease<LeasedHost>>, signal: AbortSignal): Promise<Lease<LeasedHost>> {
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
