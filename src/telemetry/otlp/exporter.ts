import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '../../base/log.ts';
import type { ServiceAnswer } from '../../http/service-client.ts';
import type { Registry } from '../registry.ts';
import { metricsPayload, type Span, tracesPayload } from './payload.ts';
import { createOtlpSender, isAccepted } from './sender.ts';
import type { OtlpTarget } from './target.ts';

/** OpenTelemetry's defaults: max queued spans, max spans per batch, and the interval between batches. */
const queueMax = 2_048;
const batchMax = 512;
const batchEveryMs = 5_000;

const attemptsMax = 4;
const firstPauseMs = 1_000;
const pauseMsMax = 30_000;

export interface ExporterDeps {
  readonly registry: Registry;
  /** Updates the sampled metrics; called before each export. */
  refresh(): Promise<void>;
  readonly log: Logger;
}

/** Sends spans in batches and metrics at intervals. If the receiver is unreachable and the queue is full, data is dropped. */
export function createOtlpExporter(target: OtlpTarget, { registry, refresh, log }: ExporterDeps) {
  const sender = createOtlpSender(target);
  const dropped = registry.counter({ name: 'carrel.otlp.lost', help: 'Spans and metric exports that were dropped.' });
  const closing = new AbortController();
  let queue: Span[] = [];
  let hasWarned = false;

  const post = async (path: string, payload: object): Promise<'sent' | 'refused' | { retryMs: number | undefined }> => {
    const answer = await sender.post(path, payload);
    if (answer === undefined) {
      warnOnce('does not answer');
      return { retryMs: undefined };
    }
    if (isAccepted(answer.status)) {
      hasWarned = false;
      return 'sent';
    }
    warnOnce(`answered ${answer.status}`);
    return retryableStatuses.has(answer.status) ? { retryMs: retryAfterMs(answer.headers) } : 'refused';
  };

  const warnOnce = (problem: string): void => {
    if (!hasWarned) log.warn(`the OpenTelemetry receiver ${problem}; undelivered data is dropped`);
    hasWarned = true;
  };

  const send = async (path: string, payload: object): Promise<boolean> => {
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await post(path, payload);
      if (outcome === 'sent') return true;
      if (outcome === 'refused' || attempt >= attemptsMax || closing.signal.aborted) return false;
      // With jitter, so that processes with the same receiver don't all retry at the same time.
      const pauseMs = (outcome.retryMs ?? firstPauseMs * 2 ** (attempt - 1)) * (0.75 + Math.random() / 2);
      await pause(Math.min(pauseMsMax, pauseMs), undefined, { signal: closing.signal, ref: false }).catch(() => {});
    }
  };

  const sendSpans = async (): Promise<void> => {
    while (queue.length > 0) {
      const batch = queue.slice(0, batchMax);
      queue = queue.slice(batchMax);
      if (!(await send('/v1/traces', tracesPayload(batch, target.resource))))
        dropped.add({ signal: 'spans' }, batch.length);
    }
  };

  const sendMetrics = async (): Promise<void> => {
    await refresh();
    const payload = metricsPayload(registry.collect(), target.resource, Date.now());
    if (!(await send('/v1/metrics', payload))) dropped.add({ signal: 'metrics' });
  };

  const flushSpans = oneAtATime(sendSpans);
  const flushMetrics = oneAtATime(sendMetrics);
  const timers = [
    ...(target.sendsSpans ? [setInterval(() => void flushSpans(), batchEveryMs)] : []),
    ...(target.sendsMetrics ? [setInterval(() => void flushMetrics(), target.metricsEveryMs)] : []),
  ];
  for (const timer of timers) timer.unref();

  return {
    /** Queues a span and never waits. If the queue is full, the span is dropped and counted. */
    span(span: Span): void {
      if (!target.sendsSpans || closing.signal.aborted) return;
      if (queue.length >= queueMax) dropped.add({ signal: 'spans' });
      else queue.push(span);
      if (queue.length >= batchMax) void flushSpans();
    },
    /** Tries once to send the queued data, within `limitMs`. */
    async close(limitMs: number): Promise<void> {
      for (const timer of timers) clearInterval(timer);
      // No retries after this.
      closing.abort();
      const last = Promise.all([flushSpans(), ...(target.sendsMetrics ? [flushMetrics()] : [])]);
      const isDone = await Promise.race([last.then(() => true), pause(limitMs, false)]);
      if (!isDone) warnOnce('does not answer');
      sender.close();
    },
  };
}

/** Returns a function that starts the work, unless it is already running. Its promise resolves when the work is done. */
function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => {
    running ??= work().finally(() => {
      running = undefined;
    });
    return running;
  };
}

/** The only HTTP statuses after which OTLP allows a retry. */
const retryableStatuses = new Set([429, 502, 503, 504]);

function retryAfterMs(headers: ServiceAnswer['headers']): number | undefined {
  const seconds = Number(headers['retry-after']);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}
