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
  const candidates = deps.providers.map((provider) => ({ provider, backOff: createBackOff(clock) }));

  return {
    chosen,
    names: candidates.map(({ provider }) => provider.name),
    async search({ query, limit, provider: preferred, signal }) {
      const first = preferred ?? chosen;
      const attempts: Attempt[] = [];
      for (const candidate of orderCandidates(candidates, first, fallback)) {
        const { name } = candidate.provider;
        if (candidate.backOff.readiness() === 'paused') {
          attempts.push({ provider: name, outcome: 'skipped' });
          continue;
        }
        const outcome = await tryProvider(candidate, { query, limit, signal });
        if (Array.isArray(outcome)) {
          attempts.push({ provider: name, outcome: 'answered' });
          return { results: outcome, provider: name, attempts };
        }
        const { reason, status, message, cause } = outcome;
        attempts.push({ provider: name, outcome: reason, ...(status === undefined ? {} : { status }) });
        deps.log.info('search provider failed', { provider: name, reason, status, problem: message, error: cause });
      }
      throw allProvidersFailed(first, attempts, candidates);
    },
  };
}

interface Candidate {
  provider: SearchProvider;
  backOff: BackOff;
}

const ranks = { ready: 0, backingOff: 1, paused: 2 };

/** Returns the preferred provider and, with `fallback`, all others. Those that failed recently come last. */
function orderCandidates(candidates: readonly Candidate[], first: ProviderName, fallback: boolean): Candidate[] {
  const isFirst = ({ provider }: Candidate): boolean => provider.name === first;
  const ordered = [
    ...candidates.filter(isFirst),
    ...(fallback ? candidates.filter((candidate) => !isFirst(candidate)) : []),
  ];
  return ordered.toSorted((a, b) => ranks[a.backOff.readiness()] - ranks[b.backOff.readiness()]);
}

async function tryProvider(
  { provider, backOff }: Candidate,
  request: SearchRequest,
): Promise<SearchResult[] | ProviderFailure> {
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

function allProvidersFailed(
  first: ProviderName,
  attempts: readonly Attempt[],
  candidates: readonly Candidate[],
): CarrelError {
  const problems = attempts.map(
    ({ provider, outcome }) => `${provider} ${outcome === 'answered' ? '' : problemsOf[outcome]}`,
  );
  const tried = new Set(attempts.map(({ provider }) => provider));
  const triedCandidates = candidates.filter(({ provider }) => tried.has(provider.name));
  const waitMs = Math.min(...triedCandidates.map(({ backOff }) => backOff.waitMs()));
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
 * State of a provider. `ready`: can be used. `backingOff`: failed recently, so others are tried first. `paused`: has
 * asked not to be called before a certain time.
 */
type Readiness = 'ready' | 'backingOff' | 'paused';

interface BackOff {
  readiness(): Readiness;
  /** Milliseconds until the provider is ready again. */
  waitMs(): number;
  succeeded(): void;
  failed(failure: ProviderFailure): void;
}

/** Min and max back-off after a failure, in milliseconds. Blocks last longer than outages. */
const firstBackOffMs = { blocked: 30_000, timeout: 2_000, failed: 2_000 };
const backOffMsMax = { blocked: 10 * 60_000, timeout: 30_000, failed: 30_000 };
/** Max pause that a provider can ask for, in milliseconds. */
const pauseMsMax = 10 * 60_000;

/** Tracks the failures of a provider. Each consecutive one doubles the back-off. */
function createBackOff(clock: MonotonicClock): BackOff {
  let consecutiveFailures = 0;
  let backOffUntil = 0;
  let pausedUntil = 0;
  return {
    readiness() {
      const now = clock();
      if (now < pausedUntil) return 'paused';
      return now < backOffUntil ? 'backingOff' : 'ready';
    },
    waitMs: () => Math.max(0, Math.max(backOffUntil, pausedUntil) - clock()),
    succeeded() {
      consecutiveFailures = 0;
      backOffUntil = 0;
      pausedUntil = 0;
    },
    failed({ reason, retryAfterSeconds }) {
      const now = clock();
      backOffUntil = now + Math.min(firstBackOffMs[reason] * 2 ** consecutiveFailures, backOffMsMax[reason]);
      consecutiveFailures += 1;
      if (retryAfterSeconds !== undefined) pausedUntil = now + Math.min(retryAfterSeconds * 1000, pauseMsMax);
    },
  };
}
