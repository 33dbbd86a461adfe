export interface Figures {
  ndcg10: number;
  recall5: number;
  recall10: number;
  mrr10: number;
}

/** Computes the metrics of one query. nDCG uses linear gains, as trec_eval does. */
export function figuresOf(ranking: readonly number[], relevant: ReadonlyMap<number, number>): Figures {
  const gains = ranking.slice(0, 10).map((passage) => relevant.get(passage) ?? 0);
  const ideal = [...relevant.values()].sort((left, right) => right - left).slice(0, 10);
  const hits = (depth: number) => gains.slice(0, depth).filter((gain) => gain > 0).length;
  const first = gains.findIndex((gain) => gain > 0);
  return {
    ndcg10: discounted(gains) / discounted(ideal),
    recall5: hits(5) / relevant.size,
    recall10: hits(10) / relevant.size,
    mrr10: first === -1 ? 0 : 1 / (first + 1),
  };
}

export function meanFigures(all: readonly Figures[]): Figures {
  const mean = (value: (figures: Figures) => number) => all.reduce((sum, each) => sum + value(each), 0) / all.length;
  return {
    ndcg10: mean((each) => each.ndcg10),
    recall5: mean((each) => each.recall5),
    recall10: mean((each) => each.recall10),
    mrr10: mean((each) => each.mrr10),
  };
}

function discounted(gains: readonly number[]): number {
  return gains.reduce((sum, gain, index) => sum + gain / Math.log2(index + 2), 0);
}
