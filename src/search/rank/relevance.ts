/** Evidence for the relevance of a hit. Unknown values are undefined. */
export interface Evidence {
  readonly logit?: number | undefined;
  /** How far the logit is above those of the other hits; see `leadsOf`. */
  readonly lead?: number | undefined;
  /** Share of the question's words in the hit, weighted by rarity: 0 to 1. */
  readonly words?: number | undefined;
  /** Cosine of the bundled embedding model; other models have other scales. */
  readonly cosine?: number | undefined;
  /** Characters of the hit's text. A long text has a part near to any question, so its cosine says less. */
  readonly length?: number | undefined;
}

/** `doubt`: how far the logit is below that of a right answer, from −5 to 0. Higher logits have no doubt; their lead says more. */
export type Feature = keyof Evidence | 'doubt';

const [sureLogit, doubtMax] = [-3, 5];

/** Lengths, in characters, are clamped to this range: few texts of the training data are shorter or longer. */
export const lengthSpan = { min: 100, max: 1_000 } as const;

export interface LogisticWeights {
  readonly intercept: number;
  readonly weights: readonly number[];
}

/** A logistic regression over some of the evidence, fitted on questions with known answers. */
export interface Regression extends LogisticWeights {
  readonly features: readonly Feature[];
  /** Estimates the probability that a hit is on topic at all. Default: this regression. */
  readonly onTopic?: LogisticWeights | undefined;
  /** A hit whose probability of being on topic is lower is weak. */
  readonly onTopicMin: number;
}

export type Calibration = readonly Regression[];

export interface Verdict {
  /** Probability that a hit with this evidence is relevant: 0 to 1, three digits. */
  readonly relevance: number;
  readonly isWeak: boolean;
}

/** Rates a hit with the regression that uses the most of its known evidence. */
export function judge(evidence: Evidence, calibration: Calibration): Verdict {
  const [regression] = calibration
    .filter(({ features }) => features.every((feature) => Number.isFinite(featureValue(evidence, feature))))
    .toSorted((left, right) => evidenceOf(right) - evidenceOf(left));
  if (regression === undefined) return { relevance: 0, isWeak: true };
  const values = regression.features.map((feature) => featureValue(evidence, feature) ?? 0);
  const { onTopic = regression, onTopicMin } = regression;
  return { relevance: probabilityOf(regression, values), isWeak: probabilityOf(onTopic, values) < onTopicMin };
}

/** True for a hit of less than 1 % relevance beside one of at least 70 %: it would only distract. */
export function isNoise(relevance: number, best: number): boolean {
  return relevance < 0.01 && best >= 0.7;
}

/** Returns the value of a feature for a regression. A length becomes its logarithm. */
export function featureValue(evidence: Evidence, feature: Feature): number | undefined {
  if (feature === 'doubt') {
    const { logit } = evidence;
    return logit === undefined ? undefined : Math.max(-doubtMax, Math.min(0, logit - sureLogit));
  }
  const value = evidence[feature];
  if (feature !== 'length' || value === undefined) return value;
  return Math.log(Math.min(lengthSpan.max, Math.max(lengthSpan.min, value)));
}

function probabilityOf({ intercept, weights }: LogisticWeights, values: readonly number[]): number {
  const sum = values.reduce((total, value, index) => total + (weights[index] ?? 0) * value, intercept);
  return threeDigits(1 / (1 + Math.exp(-sum)));
}

/** Max absolute value of a lead. */
const leadMax = 5;

/** Logit distance from which another hit counts fully. A hit with the same logit does not count: near-duplicates are both right. */
const peerDistance = 0.5;
/** Max logit that another hit counts with, so that several right answers do not lower one another much. */
const otherLogitMax = 3;

/** Min hits to compare with. A shorter list is filled up with the logit of a typical unrelated text. */
const comparedMin = 10;
const unrelatedLogit = -7;

/**
 * Returns the lead of each hit: its log odds against the other hits. An answer stands out among unrelated texts, even if the
 * model is unsure of it. Other hits that were replaced don't count.
 */
export function leadsOf(hits: readonly { readonly logit: number; readonly isReplaced?: boolean }[]): number[] {
  const others = hits.filter(({ isReplaced = false }) => !isReplaced).map(({ logit }) => logit);
  const filled = Math.max(0, comparedMin - others.length);
  return hits.map(({ logit }) => leadOf(oddsAgainst(logit, others) + filled * Math.exp(unrelatedLogit - logit)));
}

/** Updates a lead for further hits, from another source. */
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

/** Rates a regression by how much evidence it uses. The reranking model counts more than all other evidence together. */
function evidenceOf({ features }: Regression): number {
  return features.length + (features.includes('doubt') || features.includes('logit') ? 10 : 0);
}

export function threeDigits(value: number): number {
  return Math.round(value * 1000) / 1000;
}
