/** What is known of how well a hit fits a question. Whatever is not known is undefined. */
export interface Evidence {
  /** Of the reranking model. */
  readonly logit?: number | undefined;
  /** How much of the question's words it has, each by its rarity: 0 to 1. */
  readonly words?: number | undefined;
  /** Of the bundled embedding model; those of other models mean something else. */
  readonly cosine?: number | undefined;
}

export type Feature = keyof Evidence;

/** A logistic model of some of the evidence, fitted on judged questions. */
export interface Fit {
  readonly features: readonly Feature[];
  readonly intercept: number;
  /** For each feature, in the same order. */
  readonly weights: readonly number[];
  /** A hit that is less relevant than this is weak. */
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
    .filter(({ features }) => features.every((feature) => Number.isFinite(evidence[feature])))
    .reduce<Fit | undefined>((best, each) => (best && worth(best) >= worth(each) ? best : each), undefined);
  if (fit === undefined) return { relevance: 0, isWeak: true };
  const sum = fit.features.reduce(
    (total, feature, place) => total + (fit.weights[place] ?? 0) * (evidence[feature] ?? 0),
    fit.intercept,
  );
  const relevance = threeDigits(1 / (1 + Math.exp(-sum)));
  return { relevance, isWeak: relevance < fit.cut };
}

/** The model that reads both texts tells more than everything else together. */
function worth({ features }: Fit): number {
  return features.length + (features.includes('logit') ? 10 : 0);
}

export function threeDigits(value: number): number {
  return Math.round(value * 1000) / 1000;
}
