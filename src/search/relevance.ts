/** What is known of how well a hit fits a question. Whatever is not known is undefined. */
export interface Evidence {
  /** Of the reranking model. */
  readonly logit?: number | undefined;
  /** How much of the question's words it has, each by its rarity: 0 to 1. */
  readonly words?: number | undefined;
  /** Of the bundled embedding model; those of other models mean something else. */
  readonly cosine?: number | undefined;
  /** Characters of its text. Of a long one some part is near to any question, so its nearness tells less. */
  readonly length?: number | undefined;
}

export type Feature = keyof Evidence;

/** Beyond these, a length counts as if it were this one: few judged texts are shorter or longer. */
export const lengthSpan = { min: 100, max: 1_000 } as const;

/** The chance of something, by some of the evidence. */
export interface Logistic {
  readonly intercept: number;
  /** For each feature, in the same order. */
  readonly weights: readonly number[];
}

/** A logistic model of some of the evidence, fitted on judged questions. */
export interface Fit extends Logistic {
  readonly features: readonly Feature[];
  /**
   * Whether a hit is about the question at all: fitted on relevant hits and on those of questions about other subjects. Without
   * it, the relevance stands for that.
   */
  readonly about?: Logistic | undefined;
  /** A hit with a smaller chance to be about the question is weak. */
  readonly cut: number;
}

/** One fit for each set of features that a search may have. */
export type Calibration = readonly Fit[];

export interface Verdict {
  /** The share of hits with such evidence that are relevant: 0 to 1, three digits. */
  readonly relevance: number;
  readonly isWeak: boolean;
}

/** Uses the fit with the most of the known evidence. */
export function judge(evidence: Evidence, calibration: Calibration): Verdict {
  const fit = calibration
    .filter(({ features }) => features.every((feature) => Number.isFinite(featureValue(evidence, feature))))
    .reduce<Fit | undefined>((best, each) => (best && worth(best) >= worth(each) ? best : each), undefined);
  if (fit === undefined) return { relevance: 0, isWeak: true };
  const values = fit.features.map((feature) => featureValue(evidence, feature) ?? 0);
  return { relevance: chanceOf(fit, values), isWeak: chanceOf(fit.about ?? fit, values) < fit.cut };
}

/** What a fit counts. Lengths count by their logarithm. */
export function featureValue(evidence: Evidence, feature: Feature): number | undefined {
  const value = evidence[feature];
  if (feature !== 'length' || value === undefined) return value;
  return Math.log(Math.min(lengthSpan.max, Math.max(lengthSpan.min, value)));
}

function chanceOf({ intercept, weights }: Logistic, values: readonly number[]): number {
  const sum = values.reduce((total, value, place) => total + (weights[place] ?? 0) * value, intercept);
  return threeDigits(1 / (1 + Math.exp(-sum)));
}

/** The model that reads both texts tells more than everything else together. */
function worth({ features }: Fit): number {
  return features.length + (features.includes('logit') ? 10 : 0);
}

export function threeDigits(value: number): number {
  return Math.round(value * 1000) / 1000;
}
