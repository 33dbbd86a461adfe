import { crowdChars, uncrowded } from './passage-vectors.ts';
import { type Evidence, threeDigits } from './relevance.ts';
import { bestPart, type TextPart, type Windowed } from './reranking/best-part.ts';
import { type Reranker, type RerankingState, rerankingOff } from './reranking/reranker.ts';
import type { WordLeg } from './word-leg.ts';

/** A hit as the search ranked it. */
export interface RankedHit {
  readonly id: number;
  /** What it is ranked by, higher is better: 0 to 1. */
  readonly score: number;
  /** See `Evidence`. */
  readonly cosine?: number | undefined;
  /** How much of the query's words it has, where that is known. */
  readonly coverage?: number | undefined;
  /** The part that is nearest to the query. */
  readonly window?: { readonly start: number; readonly end: number } | undefined;
}

export interface JudgedHit<Hit> {
  readonly hit: Hit;
  /** 0 to 1; see relevance.ts. */
  readonly relevance: number;
  /** What it was judged by. */
  readonly evidence: Evidence;
  /** The part of its text that the model read, if it read any. */
  readonly range?: TextPart['range'] | undefined;
}

export interface JudgeRequest {
  readonly text: string;
  readonly limit: number;
  readonly offset: number;
  /** What to leave out. Undefined: nothing. */
  readonly cut?: Cut | undefined;
  /** Hits in front of the given ones, which are not looked at; none by default. */
  readonly before?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Everything that is weak, except hits that have every word of the query; or whatever is below a relevance. */
export type Cut = 'weak' | { readonly below: number };

export interface JudgeDeps {
  readonly reranker: Reranker;
  /** What the model should read of these hits, or so many characters of each if it is not to. Deleted ones are left out. */
  texts(ids: readonly number[], signal?: AbortSignal, charsMax?: number): Promise<ReadonlyMap<number, TextToJudge>>;
  /** The best part of each text; for callers whose texts are so long that this thread must not look for it. */
  parts?(texts: readonly Windowed[], query: string, signal?: AbortSignal): Promise<readonly TextPart[]>;
  /** Tells the coverage of hits where it is not known. Undefined if there are no words to search by. */
  readonly words: Pick<WordLeg, 'score'> | undefined;
}

export interface TextToJudge {
  readonly text: string;
  /** What is read in front of every part of it: title and headings, or the end of what was said before. */
  readonly lead?: string | undefined;
  /** Rather than a part of a document; see passage-vectors.ts. */
  readonly isMessage?: boolean;
}

export interface JudgedPage<Hit> {
  readonly page: readonly JudgedHit<Hit>[];
  /** Hits that were not left out, on this page or not, as far as they were looked at. */
  readonly kept: number;
  /** Behind those that were looked at. */
  readonly unseen: number;
  /** Hits that would be on this page if none were left out. */
  readonly omitted: number;
  readonly reranking: RerankingState;
}

/**
 * Hits are reranked in blocks: the best 20 among themselves, then the next 30. The rest keeps its order. A block is looked at
 * only if the page is not full without it, so the order does not depend on the page, and the first page costs 20 pairs.
 */
const blockEnds = [20, 50];

/** So many of the best are reranked at most. */
export const rerankedMax = 50;

/** What of a list to fetch for a page, so that the best can be reranked whichever page is asked for. */
export function reachOf({ limit, offset }: { limit: number; offset: number }): { limit: number; offset: number } {
  return offset < rerankedMax ? { limit: Math.max(rerankedMax, offset + limit), offset: 0 } : { limit, offset };
}

/** Few enough for one question about their words. */
const unrerankedBlock = 400;

/** With every word, rounding apart. */
const everyWord = 1 - 1e-9;

/**
 * Reranks, judges, leaves out what is weak, and takes the page. Where reranking is off or fails, the order stays as it is, and
 * the relevance is judged by the other evidence.
 */
export async function judgePage<Hit extends RankedHit>(
  request: JudgeRequest,
  ranked: readonly Hit[],
  deps: JudgeDeps,
): Promise<JudgedPage<Hit>> {
  const { text, limit, offset, cut, before = 0, signal } = request;
  const { reranker } = deps;
  const kept: JudgedHit<Hit>[] = [];
  let reranking: RerankingState = reranker.provider ? { state: 'applied' } : rerankingOff;
  let ceiling = 1;
  let seen = 0;
  while (seen < ranked.length && kept.length < offset + limit) {
    const end = blockEnds.find((each) => each > before + seen) ?? Number.POSITIVE_INFINITY;
    const block = ranked.slice(seen, Math.min(end - before, seen + unrerankedBlock));
    // Where the model found the whole best block weak, what is behind it is no better.
    const isHopeless = cut === 'weak' && seen > 0 && kept.length === 0 && reranking.state === 'applied';
    const isReranked = end !== Number.POSITIVE_INFINITY && reranking.state === 'applied' && !isHopeless;
    const [coverage, { texts, scored }] = await Promise.all([
      coverageOf(block),
      readingOf(isHopeless ? [] : block, isReranked),
    ]);
    if (scored) reranking = scored.state;
    const judged = block.map((hit) => {
      const [words, logit, told] = [coverage.get(hit.id), scored?.logits.get(hit.id), texts.get(hit.id)];
      const evidence = { logit, words, cosine: cosineOf(hit, told), length: told?.text.length };
      return { hit, evidence, range: scored?.ranges.get(hit.id), ...reranker.judge(evidence) };
    });
    const ordered = scored
      ? judged.toSorted((left, right) => orderOf(right) - orderOf(left))
      : judged.map((each) => ({ ...each, relevance: Math.min(ceiling, each.relevance) }));
    const shown = scored ? falling(ordered, ceiling) : ordered;
    if (scored) ceiling = shown.at(-1)?.relevance ?? ceiling;
    kept.push(
      ...shown.filter(({ relevance, isWeak, evidence: { words = 0 } }) =>
        cut === 'weak' ? !(isWeak || isHopeless) || words >= everyWord : !(cut && relevance < cut.below),
      ),
    );
    seen += block.length;
  }
  const page = kept.slice(offset, offset + limit);
  return {
    page: page.map(({ hit, relevance, evidence, range }) => ({ hit, relevance, evidence, range })),
    kept: kept.length,
    unseen: ranked.length - seen,
    omitted: Math.max(0, Math.min(limit, ranked.length - offset) - page.length),
    reranking,
  };

  /** What was not reached within the time comes behind what was. Without any logits the order stays as it is. */
  function orderOf({ hit, evidence: { logit } }: Pick<JudgedHit<Hit>, 'hit' | 'evidence'>): number {
    return logit === undefined ? hit.score - unscoredLoss : hit.score + reranker.weight * logit;
  }

  async function coverageOf(block: readonly Hit[]): Promise<Map<number, number>> {
    const known = new Map<number, number>();
    for (const { id, coverage } of block) if (coverage !== undefined) known.set(id, coverage);
    if (deps.words === undefined) return known;
    const unknown = block.filter(({ id }) => !known.has(id)).map(({ id }) => id);
    // Hits without any of the words are left out of the answer.
    for (const id of unknown) known.set(id, 0);
    const told = unknown.length === 0 ? [] : await deps.words.score(text, unknown, signal);
    for (const { id, coverage } of told) known.set(id, coverage ?? 0);
    return known;
  }

  /** Without the model only lengths are needed, and only where there is a nearness to judge by. */
  async function readingOf(block: readonly Hit[], isReranked: boolean) {
    const read = block.filter(({ cosine }) => isReranked || cosine !== undefined).map(({ id }) => id);
    const texts: ReadonlyMap<number, TextToJudge> =
      read.length === 0 ? new Map() : await deps.texts(read, signal, isReranked ? undefined : crowdChars);
    return { texts, scored: isReranked ? await scoresOf(block, texts) : undefined };
  }

  async function scoresOf(block: readonly Hit[], texts: ReadonlyMap<number, TextToJudge>) {
    const known = block.flatMap(({ id, window }) => {
      const told = texts.get(id);
      return told === undefined ? [] : [{ ...told, id, window }];
    });
    const parts = deps.parts ? await deps.parts(known, text, signal) : known.map((each) => bestPart(each, text));
    const read = parts.flatMap(({ text: part, range }, place) => {
      const { id, lead = '' } = known[place] ?? {};
      return id === undefined ? [] : [{ id, range, passage: lead + part }];
    });
    const { state, logits } = await reranker.score(
      text,
      read.map(({ passage }) => passage),
      signal,
    );
    return {
      state,
      logits: new Map(read.map(({ id }, place) => [id, logits[place]])),
      ranges: new Map(read.map(({ id, range }) => [id, range])),
    };
  }
}

function cosineOf({ cosine, window }: RankedHit, told: TextToJudge | undefined): number | undefined {
  return cosine !== undefined && window && told?.isMessage ? uncrowded(cosine, told.text, window) : cosine;
}

/** More than any score and logit add up to. */
const unscoredLoss = 1_000;

/**
 * The order has more evidence than the relevance, so that a hit may be less relevant by itself than the next one. Such neighbours
 * get their mean: on the whole it is as true, and the relevance never rises down the list (002: results are in its order).
 */
export function falling<Hit extends { readonly relevance: number }>(ordered: readonly Hit[], ceiling = 1): Hit[] {
  const pools: { sum: number; count: number }[] = [];
  for (const { relevance } of ordered) {
    let pool = { sum: relevance, count: 1 };
    for (let last = pools.at(-1); last && last.sum * pool.count < pool.sum * last.count; last = pools.at(-1)) {
      pool = { sum: last.sum + pool.sum, count: last.count + pool.count };
      pools.pop();
    }
    pools.push(pool);
  }
  const values = pools.flatMap(({ sum, count }) => new Array<number>(count).fill(sum / count));
  return ordered.map((hit, place) => ({ ...hit, relevance: threeDigits(Math.min(ceiling, values[place] ?? 0)) }));
}
