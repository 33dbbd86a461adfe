import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Logger } from '../../../base/log.ts';
import type { SharedStore } from '../../../base/shared-store.ts';
import { createBacklog } from '../../../jobs/backlog.ts';
import { type SummaryProvider, UnusableText } from '../../../search/models/summary-provider.ts';
import type { TextToSummarise } from '../../../storage/entries/entry-parts.ts';
import type { EntryStore } from '../../../storage/entries/entry-store.ts';

/**
 * Summarizes entries in the background. A write doesn't wait for the summary, and succeeds even if summarizing fails.
 */
export interface EntrySummaries {
  readonly provider: SummaryProvider;
  /** Shorter texts get no summary. */
  readonly charsMin: number;
  /** False while the provider does not respond. */
  readonly available: boolean;
  /** Call when there is something to summarize. */
  wake(): void;
  /** Waits briefly if summaries are made locally, so that new entries are shown with their summaries. */
  waitForLocal(): Promise<void>;
  close(): Promise<void>;
}

interface EntrySummariesDeps {
  readonly entries: EntryStore;
  readonly provider: SummaryProvider;
  /** For texts that the provider cannot summarize. */
  readonly local: SummaryProvider;
  /** Holds the claims of processes on texts, so that a shared model server gets each text once. */
  readonly shared?: SharedStore | undefined;
  readonly log: Logger;
}

const batchSize = 16;
const backlogWaitMs = 500;
/** How long a claim lasts: longer than a model needs for a text. */
const claimMs = 300_000;
/** Poll interval while other processes hold all claims, because those processes may die. */
const pollAgainMs = 5_000;

export function createEntrySummaries(
  { charsMin, waitMs = backlogWaitMs }: { charsMin: number; waitMs?: number },
  { entries, provider, local, shared, log }: EntrySummariesDeps,
): EntrySummaries {
  let pollTimer: NodeJS.Timeout | undefined;
  const backlog = createBacklog({
    async doPart(signal) {
      const waiting = await entries.unsummarised({ limit: batchSize });
      let claimed = 0;
      for (let at = 0; at < waiting.length; at += provider.concurrencyMax) {
        const batch = await claim(waiting.slice(at, at + provider.concurrencyMax));
        claimed += batch.length;
        // Successes are kept even if others fail.
        const outcomes = await Promise.allSettled(batch.map((text) => summariseClaimed(text, signal)));
        for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
        signal.throwIfAborted();
      }
      if (claimed === 0 && waiting.length > 0) pollAgain();
      return claimed > 0;
    },
    onFailure: (error) => log.warn('summaries failed and will be retried', { reason: reasonOf(error) }),
  });
  return {
    provider,
    charsMin,
    get available() {
      return backlog.available;
    },
    wake: () => backlog.wake(),
    waitForLocal: async () => {
      if (provider.isLocal) await backlog.whenIdle(waitMs);
    },
    async close() {
      clearTimeout(pollTimer);
      await backlog.close();
    },
  };

  function pollAgain(): void {
    clearTimeout(pollTimer);
    pollTimer = setTimeout(() => backlog.wake(), pollAgainMs).unref();
  }

  /**
   * Claims texts, and returns the ones that no other process has claimed. A claim is kept after success, because another
   * process may still have the text in an older list.
   */
  async function claim(texts: readonly TextToSummarise[]): Promise<readonly TextToSummarise[]> {
    if (shared === undefined) return texts;
    const claimedTexts: TextToSummarise[] = [];
    for (const text of texts) if (await shared.add(claimOf(text), Buffer.alloc(0), claimMs)) claimedTexts.push(text);
    return claimedTexts;
  }

  async function summariseClaimed(text: TextToSummarise, signal: AbortSignal): Promise<void> {
    try {
      await summariseOne(text, signal);
    } catch (error) {
      // Release the claim: another process may succeed.
      await shared?.remove(claimOf(text)).catch(() => {});
      throw error;
    }
  }

  async function summariseOne({ id, textHash, text, source }: TextToSummarise, signal: AbortSignal): Promise<void> {
    // Let calls that have arrived meanwhile run first.
    await yieldToEventLoop();
    const summary = await provider.summarise(text, { source, signal }).catch((error: unknown) => {
      if (!(error instanceof UnusableText)) throw error;
      log.warn("model summary failed; using the entry's own sentences", { id, reason: error.message });
      return local.summarise(text, { source, signal });
    });
    await entries.putSummary({ id, textHash, summary });
  }
}

function claimOf({ id, textHash }: TextToSummarise) {
  return { kind: 'summary', id: `${id} ${textHash}`, part: 0 };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : '';
}
