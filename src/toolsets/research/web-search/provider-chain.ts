import { CarrelError } from '../../../base/errors.ts';
import type { Logger } from '../../../base/log.ts';
import type { MonotonicClock } from '../../../base/sliding-window.ts';
import {
  type FailureReason,
  ProviderFailure,
  type ProviderName,
  type SearchProvider,
  type SearchRequest,
  type SearchResult,
} from './search-provider.ts';

interface ProviderChainDeps {
  /** The configured providers, in order. */
  providers: readonly SearchProvider[];
  log: Logger;
  clock?: MonotonicClock;
}

/** `skipped`: the provider has asked for a pause, which isn't over yet. */
type AttemptOutcome = 'answered' | FailureReason | 'skipped';

interface Attempt {
  provider: ProviderName;
  outcome: AttemptOutcome;
  /** The HTTP status, if it was the cause of the failure. */
  status?: number;
}

export interface WebSearchAnswer {
  results: SearchResult[];
  provider: ProviderName;
  /** All tried providers, in order; the last one answered. */
  attempts: Attempt[];
}

export interface ProviderChain {
  readonly chosen: ProviderName;
  readonly names: readonly ProviderName[];
  search(request: SearchRequest & { provider?: ProviderName | undefined }): Promise<WebSearchAnswer>;
}

/**
 * Queries the chosen provider. If it fails and `fallback` is set, queries the others in order. Providers that failed
 * recently come last.
 */
export function createProviderChain(
  { chosen, fallback }: { chosen: ProviderName; fallback: boolean },
  deps: ProviderChainDeps,
): ProviderChain {
  const clock = deps.clock ?? (() => performance.now());
  const links = deps.providers.map((provider) => ({ provider, backOff: createBackOff(clock) }));

  return {
    chosen,
    names: links.map(({ provider }) => provider.name),
    async search({ query, limit, provider: named, signal }) {
      const first = named ?? chosen;
      const attempts: Attempt[] = [];
      for (const link of inOrder(links, first, fallback)) {
        const { name } = link.provider;
        if (link.backOff.readiness() === 'closed') {
          attempts.push({ provider: name, outcome: 'skipped' });
          continue;
        }
        const outcome = await ask(link, { query, limit, signal });
        if (Array.isArray(outcome)) {
          attempts.push({ provider: name, outcome: 'answered' });
          return { results: outcome, provider: name, attempts };
        }
        const { reason, status, message, cause } = outcome;
        attempts.push({ provider: name, outcome: reason, ...(status === undefined ? {} : { status }) });
        deps.log.info('search provider failed', { provider: name, reason, status, problem: message, error: cause });
      }
      throw nobodyAnswered(first, attempts, links);
    },
  };
}

interface Link {
  provider: SearchProvider;
  backOff: BackOff;
}

const ranks = { ready: 0, resting: 1, closed: 2 };

/** Returns the preferred provider and, with `fallback`, all others. Resting and closed ones come last. */
function inOrder(links: readonly Link[], first: ProviderName, fallback: boolean): Link[] {
  const isFirst = ({ provider }: Link): boolean => provider.name === first;
  const line = [...links.filter(isFirst), ...(fallback ? links.filter((link) => !isFirst(link)) : [])];
  return line.toSorted((a, b) => ranks[a.backOff.readiness()] - ranks[b.backOff.readiness()]);
}

async function ask({ provider, backOff }: Link, request: SearchRequest): Promise<SearchResult[] | ProviderFailure> {
  try {
    const results = await provider.search(request);
    backOff.succeeded();
    return results;
  } catch (error) {
    if (request.signal.aborted) throw new CarrelError('cancelled', 'The search was cancelled.', { cause: error });
    if (!(error instanceof ProviderFailure)) throw error;
    backOff.failed(error);
    return error;
  }
}

const problemsOf: Record<Exclude<AttemptOutcome, 'answered'>, string> = {
  blocked: 'blocks the search as automated or too frequent',
  timeout: 'timed out',
  failed: 'returned no usable answer',
  skipped: 'asked to pause requests',
};

function nobodyAnswered(first: ProviderName, attempts: readonly Attempt[], links: readonly Link[]): CarrelError {
  const problems = attempts.map(
    ({ provider, outcome }) => `${provider} ${outcome === 'answered' ? '' : problemsOf[outcome]}`,
  );
  const tried = new Set(attempts.map(({ provider }) => provider));
  const waiting = links.filter(({ provider }) => tried.has(provider.name));
  const waitMs = Math.min(...waiting.map(({ backOff }) => backOff.waitMs()));
  const retryAfter = Math.max(1, Math.ceil(waitMs / 1000));
  return new CarrelError(
    'search_failed',
    `The web search failed: ${problems.join('; ')}. Try again in ${retryAfter} s; this does not mean that there are no results.`,
    { data: { details: { provider: first, reason: reasonOf(attempts), attempts, retryAfter } } },
  );
}

/** Returns one reason for all failures. A block takes precedence, because waiting helps only then. */
function reasonOf(attempts: readonly Attempt[]): AttemptOutcome {
  const outcomes = attempts.map(({ outcome }) => outcome);
  return outcomes.find((outcome) => outcome === 'blocked') ?? outcomes[0] ?? 'failed';
}

/**
 * State of a provider. `ready`: can be used. `resting`: failed recently, so others are tried first. `closed`: has
 * asked not to be called before a certain time.
 */
type Readiness = 'ready' | 'resting' | 'closed';

interface BackOff {
  readiness(): Readiness;
  /** Milliseconds until the provider is ready again. */
  waitMs(): number;
  succeeded(): void;
  failed(failure: ProviderFailure): void;
}

/** First and longest rest after a failure, in milliseconds. Blocks last longer than outages. */
const firstRestMs = { blocked: 30_000, timeout: 2_000, failed: 2_000 };
const restMsMax = { blocked: 10 * 60_000, timeout: 30_000, failed: 30_000 };
/** Max pause that a provider can ask for, in milliseconds. */
const pauseMsMax = 10 * 60_000;

/** Tracks the failures of a provider. Each consecutive one doubles the rest. */
function createBackOff(clock: MonotonicClock): BackOff {
  let streak = 0;
  let restsUntil = 0;
  let closedUntil = 0;
  return {
    readiness() {
      const now = clock();
      if (now < closedUntil) return 'closed';
      return now < restsUntil ? 'resting' : 'ready';
    },
    waitMs: () => Math.max(0, Math.max(restsUntil, closedUntil) - clock()),
    succeeded() {
      streak = 0;
      restsUntil = 0;
      closedUntil = 0;
    },
    failed({ reason, retryAfterSeconds }) {
      const now = clock();
      restsUntil = now + Math.min(firstRestMs[reason] * 2 ** streak, restMsMax[reason]);
      streak = Math.min(streak + 1, 20);
      if (retryAfterSeconds !== undefined) closedUntil = now + Math.min(retryAfterSeconds * 1000, pauseMsMax);
    },
  };
}
