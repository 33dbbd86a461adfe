import { isCarrelError } from '../../base/errors.ts';
import { type Calibration, type Evidence, judge, type Verdict } from '../relevance.ts';
import type { RerankingProvider } from './reranking-provider.ts';

/** What happened to the order of an answer. */
export interface RerankingState {
  readonly state: 'applied' | 'off' | 'failed';
  /** Why it was not applied, in our words. */
  readonly reason?: string;
}

/** Said in an answer where its order is not the model's. */
export function rerankingField(reranking: RerankingState | undefined): { reranking?: RerankingState } {
  return reranking === undefined || reranking.state === 'applied' ? {} : { reranking };
}

export interface Scored {
  readonly state: RerankingState;
  /** In the order of the passages; undefined where there is none. */
  readonly logits: readonly (number | undefined)[];
}

/** Judges how relevant hits are. Without a model, by their words and their nearness. */
export interface Reranker {
  /** Undefined if it is switched off. */
  readonly provider: RerankingProvider | undefined;
  /** How much a logit counts beside the fused score. */
  readonly weight: number;
  /** How it reads a short answer behind its question; undefined if it can't. */
  readonly before: ReadBefore | undefined;
  /** A model that fails fails no search. */
  score(query: string, passages: readonly string[], signal?: AbortSignal): Promise<Scored>;
  judge(evidence: Evidence): Verdict;
  close(): Promise<void>;
}

export interface ReadBefore {
  /** Neither message may be longer. */
  readonly charsMax: number;
  /** What to read in front of a message; undefined if it is better read alone. */
  leadOf(before: string): string | undefined;
}

export interface RerankerDeps {
  readonly provider: RerankingProvider | undefined;
  readonly weight: number;
  readonly before?: ReadBefore | undefined;
  readonly calibration: Calibration;
}

export const rerankingOff: RerankingState = { state: 'off', reason: 'Reranking is switched off here.' };

export function createReranker({ provider, weight, before, calibration }: RerankerDeps): Reranker {
  return {
    provider,
    weight,
    before,
    async score(query, passages, signal) {
      if (provider === undefined) return { state: rerankingOff, logits: [] };
      if (passages.length === 0) return { state: { state: 'applied' }, logits: [] };
      try {
        return { state: { state: 'applied' }, logits: await provider.score(query, passages, signal) };
      } catch (error) {
        // A cancelled call must end, but a model that is down or busy must not fail the search.
        const isOurs = isCarrelError(error) && ['upstream', 'limit', 'timeout'].includes(error.kind);
        if (!isOurs) throw error;
        return { state: { state: 'failed', reason: error.message }, logits: [] };
      }
    },
    judge: (evidence) => judge(evidence, calibration),
    close: async () => provider?.close(),
  };
}
