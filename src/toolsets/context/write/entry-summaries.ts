import { setImmediate as breathe } from 'node:timers/promises';
import type { Logger } from '../../../base/log.ts';
import { createBacklog } from '../../../jobs/backlog.ts';
import { type SummaryProvider, UnusableText } from '../../../search/summaries/summary-provider.ts';
import type { EntryStore, TextToSummarise } from '../../../storage/contracts/entries.ts';

/** Makes summaries in the background: writes neither wait for them nor fail with them. */
export interface EntrySummaries {
  readonly provider: SummaryProvider;
  /** Shorter texts get no summary. */
  readonly charsMin: number;
  /** False while the provider does not answer. */
  readonly available: boolean;
  /** Call it when there is something to summarise. */
  wake(): void;
  /** Waits a moment for summaries that are made locally, so that new entries are shown with theirs. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

export interface EntrySummariesDeps {
  readonly entries: EntryStore;
  readonly provider: SummaryProvider;
  /** Used for texts that the provider cannot summarise. */
  readonly local: SummaryProvider;
  readonly log: Logger;
}

const batchSize = 16;
const settleMs = 500;

export function createEntrySummaries(
  { charsMin }: { charsMin: number },
  { entries, provider, local, log }: EntrySummariesDeps,
): EntrySummaries {
  const backlog = createBacklog({
    async doSome(signal) {
      const waiting = await entries.unsummarised({ limit: batchSize });
      for (let at = 0; at < waiting.length; at += provider.concurrencyMax) {
        const some = waiting.slice(at, at + provider.concurrencyMax);
        // Those that succeed are kept even if others fail.
        const outcomes = await Promise.allSettled(some.map((each) => summariseOne(each, signal)));
        for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
        signal.throwIfAborted();
      }
      return waiting.length > 0;
    },
    onFailure: (error) => log.warn('entries wait to be summarised', { reason: reasonOf(error) }),
  });
  return {
    provider,
    charsMin,
    get available() {
      return backlog.available;
    },
    wake: () => backlog.wake(),
    settle: async () => {
      if (provider.isLocal) await backlog.settled(settleMs);
    },
    close: () => backlog.close(),
  };

  async function summariseOne({ id, textHash, text, source }: TextToSummarise, signal: AbortSignal): Promise<void> {
    // Lets calls that arrived in the meantime go first.
    await breathe();
    const summary = await provider.summarise(text, { source, signal }).catch((error: unknown) => {
      if (!(error instanceof UnusableText)) throw error;
      log.warn('an entry is summarised by its own sentences instead of by the model', { id, reason: error.message });
      return local.summarise(text, { source, signal });
    });
    await entries.putSummary({ id, textHash, summary });
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : '';
}
