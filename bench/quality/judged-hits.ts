import { searchHybrid } from '../../src/search/rank/hybrid.ts';
import type { Evidence } from '../../src/search/rank/relevance.ts';
import type { BenchQuery, DataSet } from './data-set.ts';
import { offTopicQuestions } from './off-topic-questions.ts';
import type { ProductRetrievers } from './product-retrievers.ts';

/** One result of one question: its evidence, and its gain (0 if irrelevant or not judged). */
export interface JudgedHit extends Evidence {
  readonly set: string;
  readonly question: string;
  readonly isOffTopic: boolean;
  /** Rank in the product's order, from 1. */
  readonly rank: number;
  /** Combined keyword and vector score, before reranking. */
  readonly fused: number;
  readonly gain: number;
}

/** The number of results that are reranked for the first page. */
const hitsPerQuestion = 20;

/** Collects the best results of the set's questions and of off-topic questions. */
export async function collectHits(
  set: DataSet,
  retrievers: ProductRetrievers,
  queries: readonly BenchQuery[],
  offTopic: readonly number[],
): Promise<JudgedHit[]> {
  const hits: JudgedHit[] = [];
  for (const query of queries) hits.push(...(await hitsOf(query, false)));
  const groups = [...new Set(set.passages.map(({ group }) => group))];
  for (const number of offTopic) {
    const group = groups[number % groups.length] ?? '';
    hits.push(...(await hitsOf({ text: offTopicQuestions[number] ?? '', group, relevant: new Map() }, true)));
  }
  return hits;

  async function hitsOf({ text, group, relevant }: Omit<BenchQuery, 'id' | 'split'>, isOffTopic: boolean) {
    const found = await searchHybrid({ text, limit: hitsPerQuestion }, retrievers.forGroup(group));
    return found.matches.map(
      ({ id, rank, score, evidence }): JudgedHit => ({
        set: set.name,
        question: text,
        isOffTopic,
        rank,
        fused: score,
        gain: relevant.get(retrievers.passageOf(id)) ?? 0,
        ...evidence,
      }),
    );
  }
}
