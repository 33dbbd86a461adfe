import { createHash } from 'node:crypto';
import { isCarrelError } from '../../base/errors.ts';
import { type Calibration, type Evidence, judge, type Verdict } from '../rank/relevance.ts';

/** A model that reads question and passage together and scores how relevant the passage is. */
export interface RerankingProvider {
  /** Identifies provider and model. */
  readonly name: string;
  /** Where the model runs: native code (`cpu`), `wasm`, or another machine (`remote`). Unknown until the first use. */
  readonly device: 'cpu' | 'wasm' | 'remote' | undefined;
  /** Returns a logit per passage, in the same order. Higher is more relevant; undefined if the time ran out. */
  score(query: string, passages: readonly string[], signal?: AbortSignal): Promise<(number | undefined)[]>;
  close(): Promise<void>;
}

export interface RerankingState {
  readonly state: 'applied' | 'off' | 'failed';
  /** Why the model was not used. */
  readonly reason?: string;
}

/** Returns the `reranking` field of an answer. Only present if the model did not determine the order. */
export function rerankingField(reranking: RerankingState | undefined): { reranking?: RerankingState } {
  return reranking === undefined || reranking.state === 'applied' ? {} : { reranking };
}

export interface Scored {
  readonly state: RerankingState;
  /** One per passage, in order; undefined for a passage that was not scored. */
  readonly logits: readonly (number | undefined)[];
}

/** Rates the relevance of hits with a model, or by words and vectors if there is none. */
export interface Reranker {
  readonly provider: RerankingProvider | undefined;
  /** Weight of a logit relative to the fused score. */
  readonly weight: number;
  /** How to score a short chat message together with the question before it; undefined if the model can't. */
  readonly questionContext: QuestionContext | undefined;
  /** Scores passages. If the model fails, returns the state `failed` instead of throwing. */
  score(query: string, passages: readonly string[], signal?: AbortSignal): Promise<Scored>;
  judge(evidence: Evidence): Verdict;
  close(): Promise<void>;
}

export interface QuestionContext {
  /** Max length of the message, and of the one before it. */
  readonly charsMax: number;
  /** Returns the text to put before a message, made from the previous one; undefined if the message ranks better alone. */
  prefixFor(previousMessage: string): string | undefined;
}

/** Returns the same reranker without its model: it rates hits by words and vectors. */
export function withoutModel(reranker: Reranker): Reranker {
  return { ...reranker, provider: undefined, score: async () => ({ state: rerankingOff, logits: [] }) };
}

export interface RerankerDeps {
  readonly provider: RerankingProvider | undefined;
  readonly weight: number;
  readonly questionContext?: QuestionContext | undefined;
  readonly calibration: Calibration;
  /** Called after each scoring, for metrics. */
  readonly onReranked?: OnReranked | undefined;
}

export type OnReranked = (outcome: { state: RerankingState['state']; candidates: number; ms: number }) => void;

export const rerankingOff: RerankingState = {
  state: 'off',
  reason: 'Reranking is switched off in the settings.',
};

/** Max cached logits, about 100 bytes each. The oldest are dropped first. */
const logitsMax = 20_000;

export function createReranker({ provider, weight, questionContext, calibration, onReranked }: RerankerDeps): Reranker {
  /** Logits by query and passage. They never become stale, because a model always returns the same ones. */
  const cache = new Map<string, number>();

  async function logitsOf(model: RerankingProvider, query: string, passages: readonly string[], signal?: AbortSignal) {
    const keys = passages.map((passage) => keyOf(query, passage));
    const uncached = passages.filter((_, index) => !cache.has(keys[index] ?? ''));
    const scored = uncached.length === 0 ? [] : await model.score(query, uncached, signal);
    const logits = keys.map((key) => cache.get(key) ?? scored.shift());
    logits.forEach((logit, index) => {
      if (logit !== undefined) cache.set(keys[index] ?? '', logit);
    });
    for (const key of cache.keys()) {
      if (cache.size <= logitsMax) break;
      cache.delete(key);
    }
    return logits;
  }

  async function score(query: string, passages: readonly string[], signal?: AbortSignal): Promise<Scored> {
    if (provider === undefined) return { state: rerankingOff, logits: [] };
    if (passages.length === 0) return { state: { state: 'applied' }, logits: [] };
    try {
      return { state: { state: 'applied' }, logits: await logitsOf(provider, query, passages, signal) };
    } catch (error) {
      // An unavailable model must not fail the search; a cancelled call must.
      const isUnavailable = isCarrelError(error) && ['upstream', 'limit', 'timeout'].includes(error.kind);
      if (!isUnavailable) throw error;
      return { state: { state: 'failed', reason: error.message }, logits: [] };
    }
  }

  return {
    provider,
    weight,
    questionContext,
    async score(query, passages, signal) {
      const start = performance.now();
      const scored = await score(query, passages, signal);
      const candidates = passages.length;
      if (candidates > 0) onReranked?.({ state: scored.state.state, candidates, ms: performance.now() - start });
      return scored;
    },
    judge: (evidence) => judge(evidence, calibration),
    close: async () => provider?.close(),
  };
}

function keyOf(query: string, passage: string): string {
  return createHash('sha256').update(`${query.length} `).update(query).update(passage).digest('base64');
}
