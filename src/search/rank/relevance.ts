/** Evidence for the relevance of a hit. Unknown values are undefined. */
export interface Evidence {
  readonly logit?: number | undefined;
  /** How far its logit is above those of the other hits; see `leadsOf`. */
  readonly lead?: number | undefined;
  /** Share of the question's words in the hit, weighted by rarity: 0 to 1. */
  readonly words?: number | undefined;
  /** Cosine of the bundled embedding model; other models have other scales. */
  readonly cosine?: number | undefined;
  /** Characters of its text. A long text has a part near to any question, so its cosine says less. */
  readonly length?: number | undefined;
}

/** `doubt`: how far the logit is below that of right answers, from −5 to 0. Above that, the lead says more. */
export type Feature = keyof Evidence | 'doubt';

const [sureLogit, doubtMax] = [-3, 5];

/** Lengths are clamped to this range: few judged texts are shorter or longer. */
export const lengthSpan = { min: 100, max: 1_000 } as const;

export interface Logistic {
  readonly intercept: number;
  readonly weights: readonly number[];
}

/** A logistic model of some of the evidence, fitted on judged questions. */
export interface Fit extends Logistic {
  readonly features: readonly Feature[];
  /** Estimates whether a hit is on topic at all. Default: the relevance itself. */
  readonly about?: Logistic | undefined;
  /** A hit with a lower probability of being on topic is weak. */
  readonly cut: number;
}

export type Calibration = readonly Fit[];

export interface Verdict {
  /** The share of hits with such evidence that are relevant: 0 to 1, three digits. */
  readonly relevance: number;
  readonly isWeak: boolean;
}

/** Uses the fit that covers the most of the known evidence. */
export function judge(evidence: Evidence, calibration: Calibration): Verdict {
  const fit = calibration
    .filter(({ features }) => features.every((feature) => Number.isFinite(featureValue(evidence, feature))))
    .reduce<Fit | undefined>((best, each) => (best && worth(best) >= worth(each) ? best : each), undefined);
  if (fit === undefined) return { relevance: 0, isWeak: true };
  const values = fit.features.map((feature) => featureValue(evidence, feature) ?? 0);
  return { relevance: chanceOf(fit, values), isWeak: chanceOf(fit.about ?? fit, values) < fit.cut };
}

/** The value of a feature in a fit. Lengths enter as logarithms. */
export function featureValue(evidence: Evidence, feature: Feature): number | undefined {
  if (feature === 'doubt') {
    const { logit } = evidence;
    return logit === undefined ? undefined : Math.max(-doubtMax, Math.min(0, logit - sureLogit));
  }
  const value = evidence[feature];
  if (feature !== 'length' || value === undefined) return value;
  return Math.log(Math.min(lengthSpan.max, Math.max(lengthSpan.min, value)));
}

function chanceOf({ intercept, weights }: Logistic, values: readonly number[]): number {
  const sum = values.reduce((total, value, place) => total + (weights[place] ?? 0) * value, intercept);
  return threeDigits(1 / (1 + Math.exp(-sum)));
}

/** Max absolute lead, for a hit that is far ahead of all others or far behind. */
const leadMax = 5;

/** Logit distance from which another hit counts fully. At distance 0 it does not count: near-duplicates are both right. */
const peerDistance = 0.5;
/** Max weight of another logit: several right answers must not lower one another. */
const otherLogitMax = 3;

/** A shorter list is filled up with typical unrelated texts. A hit that is alone has nothing to stand out from. */
const comparedMin = 10;
const unrelatedLogit = -7;

/**
 * The log odds of each logit among the others. An answer stands out among unrelated texts, even if the model is unsure of it.
 * Hits that were replaced don't count.
 */
export function leadsOf(hits: readonly { readonly logit: number; readonly isReplaced?: boolean }[]): number[] {
  const others = hits.filter(({ isReplaced = false }) => !isReplaced).map(({ logit }) => logit);
  const filled = Math.max(0, comparedMin - others.length);
  return hits.map(({ logit }) => leadOf(oddsAgainst(logit, others) + filled * Math.exp(unrelatedLogit - logit)));
}

/** The lead after more hits were found elsewhere. */
export function leadAmong(logit: number, lead: number, others: readonly number[]): number {
  return leadOf(Math.exp(-lead) + oddsAgainst(logit, others));
}

function oddsAgainst(logit: number, others: readonly number[]): number {
  return others.reduce((sum, other) => {
    const share = Math.min(1, Math.abs(logit - other) / peerDistance);
    return sum + share * Math.exp(Math.min(otherLogitMax, other) - logit);
  }, 0);
}

function leadOf(odds: number): number {
  return Math.max(-leadMax, Math.min(leadMax, -Math.log(odds)));
}

/** The reranking model says more than all other evidence together. */
function worth({ features }: Fit): number {
  return features.length + (features.includes('doubt') || features.includes('logit') ? 10 : 0);
}

export function threeDigits(value: number): number {
  return Math.round(value * 1000) / 1000;
}
