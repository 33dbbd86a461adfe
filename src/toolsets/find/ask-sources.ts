import { CarrelError, isCarrelError } from '../../base/errors.ts';
import type { Call } from '../../tools/call.ts';
import type { SearchSource, SourceAnswer, SourceHit, SourceQuestion } from '../../tools/search-source.ts';

export interface SourceReport {
  source: string;
  /** `skipped`: not requested, or the source doesn't support the filters or a quick search. */
  status: 'searched' | 'degraded' | 'failed' | 'skipped';
  hits: number;
  /** Why the source failed or is degraded. */
  message?: string;
}

interface SourceResults {
  lists: { source: string; hits: SourceHit[] }[];
  /** Number of low-relevance hits that the sources omitted. */
  omitted: number;
  /** The worst state that any source reports. */
  reranking: SourceAnswer['reranking'];
  reports: SourceReport[];
}

interface Question extends SourceQuestion {
  /** Names of the sources to search. */
  names: ReadonlySet<string>;
  timeoutMs: number;
}

/** Searches the chosen sources in parallel. A failing source is reported and doesn't affect the others. */
export async function askSources(
  sources: readonly SearchSource[],
  question: Question,
  call: Call,
): Promise<SourceResults> {
  const outcomes = await Promise.all(
    sources.map(async (source) => {
      if (!shouldSearch(source, question)) return { report: report(source, 'skipped'), answer: { hits: [] } };
      return await askSource(source, question, call);
    }),
  );
  if (call.signal.aborted) throw new CarrelError('cancelled', 'The search was cancelled.');
  return {
    lists: outcomes.map(({ report: { source }, answer: { hits } }) => ({ source, hits })),
    omitted: outcomes.reduce((sum, { answer }) => sum + (answer.omitted ?? 0), 0),
    reranking: worstState(outcomes.flatMap(({ answer }) => answer.reranking ?? [])),
    reports: outcomes.map((outcome) => outcome.report),
  };
}

function shouldSearch({ name, filters = [], supportsWordsOnly }: SearchSource, question: Question): boolean {
  const usedFilters = Object.entries(question.filters ?? {}).flatMap(([filter, value]) =>
    value === undefined ? [] : [filter],
  );
  if (question.wordsOnly && !supportsWordsOnly) return false;
  return question.names.has(name) && usedFilters.every((filter) => filters.some((supported) => supported === filter));
}

function worstState(states: readonly NonNullable<SourceAnswer['reranking']>[]): SourceAnswer['reranking'] {
  return states.find(({ state }) => state === 'failed') ?? states.find(({ state }) => state === 'off') ?? states[0];
}

interface Outcome {
  report: SourceReport;
  answer: SourceAnswer;
}

async function askSource(source: SearchSource, question: Question, call: Call): Promise<Outcome> {
  const { names: _, timeoutMs, ...request } = question;
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([call.signal, timeout]);
  try {
    const answer = await rejectOnAbort(source.search(request, { ...call, signal }), signal);
    const hits = answer.hits.slice(0, request.limit);
    const status = answer.degraded === undefined ? 'searched' : 'degraded';
    return { report: report(source, status, hits.length, answer.degraded), answer: { ...answer, hits } };
  } catch (error) {
    return { report: report(source, 'failed', 0, failureMessage(error, timeout, source, call)), answer: { hits: [] } };
  }
}

function failureMessage(error: unknown, timeout: AbortSignal, source: SearchSource, call: Call): string {
  if (call.signal.aborted) return 'The search was cancelled.';
  if (timeout.aborted) return 'The source timed out. Try again later.';
  if (isCarrelError(error)) return error.message;
  const incident = call.log.incident('search source failed', error, { source: source.name });
  return `Internal error. The log has the details under incident ${incident}.`;
}

function report(source: SearchSource, status: SourceReport['status'], hits = 0, message?: string): SourceReport {
  return { source: source.name, status, hits, ...(message === undefined ? {} : { message }) };
}

/** Rejects as soon as the signal aborts: a source that ignores it must not delay the others. */
function rejectOnAbort<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
