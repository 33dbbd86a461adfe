import { isKeywords as areKeywords } from '../../words/word-query.ts';
import { scaledCharsMax, unscaledCosine } from '../meaning/passage-vectors.ts';
import { bestPart, type TextPart, type WindowedText } from '../rerank/best-part.ts';
import { type Reranker, type RerankingState, rerankingOff } from '../rerank/reranker.ts';
import { type Evidence, isNoise, leadsOf, threeDigits, type Verdict } from './relevance.ts';
import { comparedMax, newerFirst, type Replacements } from './replacements.ts';
import type { WordRetriever } from './retrievers.ts';

export interface RankedHit {
  readonly id: number;
  /** The sort key, higher is better: 0 to 1. */
  readonly score: number;
  readonly cosine?: number | undefined;
  /** Share of the query's words that the hit has, if known. */
  readonly coverage?: number | undefined;
  /** The part of the text nearest to the query. */
  readonly window?: { readonly start: number; readonly end: number } | undefined;
}

export interface RerankedHit<Hit> {
  readonly hit: Hit;
  readonly relevance: number;
  readonly evidence: Evidence;
  /** The part of the text that the reranking model read, if any. */
  readonly range?: TextPart['range'] | undefined;
  /** Id of the older hit that this one replaces. */
  readonly replaces?: number | undefined;
  /** Id of the newer hit that replaces this one. */
  readonly replacedBy?: number | undefined;
}

export interface RerankRequest {
  readonly text: string;
  readonly limit: number;
  readonly offset: number;
  readonly cutoff?: RelevanceCutoff | undefined;
  /** Number of better-ranked hits that are not in the list; 0 by default. */
  readonly before?: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Which hits to omit. `weak`: weak hits, except those with every query word (for keywords, with any of them). `below`: all
 * hits below that relevance.
 */
export type RelevanceCutoff = 'weak' | { readonly below: number };

export interface RerankDeps {
  readonly reranker: Reranker;
  /**
   * Returns the texts of these hits, for the model to read. `charsMax`: only that many characters of each are needed. Deleted
   * hits are omitted.
   */
  texts(ids: readonly number[], signal?: AbortSignal, charsMax?: number): Promise<ReadonlyMap<number, TextToRerank>>;
  /** Finds the best part of each text on another thread. For callers with long texts. */
  parts?(texts: readonly WindowedText[], query: string, signal?: AbortSignal): Promise<readonly TextPart[]>;
  /** Finds the coverage of hits that lack it. Undefined if words are not searched. */
  readonly words: Pick<WordRetriever, 'score'> | undefined;
  /** Finds hits that newer ones replace. Absent if texts are never replaced. */
  replacements?(ids: readonly number[], signal?: AbortSignal): Promise<Replacements>;
}

export interface TextToRerank {
  readonly text: string;
  /** Text before the part that the model reads: title and headings, or the end of the previous message. */
  readonly prefix?: string | undefined;
  /** True for a chat message, whose cosine is scaled; see `unscaledCosine`. */
  readonly isMessage?: boolean;
}

export interface RerankedPage<Hit> {
  readonly page: readonly RerankedHit<Hit>[];
  /** Number of examined hits that were not omitted, on all pages. */
  readonly included: number;
  /** Number of hits that were not examined. */
  readonly unexamined: number;
  /** Number of omitted hits that would otherwise be on this page. */
  readonly omitted: number;
  readonly reranking: RerankingState;
}

/**
 * Where blocks of reranked hits end. Blocks make the order independent of the page. Short texts are one block of 50; long
 * texts are a block of 20, and one of 30 if the page needs it.
 */
const blockEnds = { short: [50], long: [20, 50] } as const;

/** Max mean characters of texts that count as short. */
const shortChars = 300;

/** Max hits reranked. */
export const rerankedMax = 50;

/** Returns the range to fetch for a page: its hits, and all that are reranked together with them. */
export function rerankRange({ limit, offset }: { limit: number; offset: number }): { limit: number; offset: number } {
  return offset < rerankedMax ? { limit: Math.max(rerankedMax, offset + limit), offset: 0 } : { limit, offset };
}

/** Hits per block without reranking: few enough for one database query. */
const unrerankedBlock = 400;

/** Min coverage that counts as having every word. Slightly below 1, because of rounding. */
const everyWordMin = 1 - 1e-9;

/**
 * Reranks hits, rates their relevance, omits weak ones and returns a page. Without a reranking model, the order stays and
 * relevance comes from other evidence. A newer hit that replaces another comes before it and is at least as relevant.
 * `createNewerHit` creates such a newer hit if it is not in the list.
 */
export async function rerankPage<Hit extends RankedHit>(
  request: RerankRequest,
  hits: readonly Hit[],
  deps: RerankDeps,
  createNewerHit: (id: number, older: Hit) => Hit | undefined = () => undefined,
): Promise<RerankedPage<Hit>> {
  const { text, limit, offset, cutoff, before = 0, signal } = request;
  const { reranker } = deps;
  // The model can't rate hits for bare keywords: it was trained on questions.
  const isKeywords = areKeywords(text);
  const compared = before === 0 ? hits.slice(0, comparedMax).map(({ id }) => id) : [];
  const replacements = compared.length === 0 ? undefined : await deps.replacements?.(compared, signal);
  const ranked = replacements ? newerFirst(hits, ({ id }) => id, replacements.newer, withScoreOf) : hits;
  const included: RerankedHit<Hit>[] = [];
  let reranking: RerankingState = reranker.provider ? { state: 'applied' } : rerankingOff;
  let ceiling = 1;
  let best = 0;
  let examined = 0;
  const textsRead = new Map<number, TextToRerank>();
  const ends = await findBlockEnds();
  while (examined < ranked.length && included.length < offset + limit) {
    const end = ends.find((each) => each > before + examined) ?? Number.POSITIVE_INFINITY;
    const block = ranked.slice(examined, Math.min(end - before, examined + unrerankedBlock));
    // If all hits of the first block are weak, later ones are weak too.
    const isAllWeak = cutoff === 'weak' && examined > 0 && included.length === 0 && reranking.state === 'applied';
    const isReranked = end !== Number.POSITIVE_INFINITY && reranking.state === 'applied' && !isAllWeak;
    const [coverage, { texts, scored }] = await Promise.all([
      coverageOf(block),
      readBlock(isAllWeak ? [] : block, isReranked),
    ]);
    if (scored) reranking = scored.state;
    const scoredHits = block.map((hit) => {
      const [words, logit, found] = [coverage.get(hit.id), scored?.logits.get(hit.id), texts.get(hit.id)];
      const evidence = {
        logit,
        lead: scored?.leads.get(hit.id),
        words,
        cosine: cosineOf(hit, found),
        length: found?.text.length,
      };
      return { hit, evidence, range: scored?.ranges.get(hit.id), ...reranker.judge(evidence) };
    });
    const ordered = scored
      ? scoredHits.toSorted((left, right) => orderOf(right) - orderOf(left))
      : scoredHits.map((each) => ({ ...each, relevance: Math.min(ceiling, each.relevance) }));
    if (scored) best = Math.max(best, ...scoredHits.map(({ relevance }) => relevance));
    const rated = ordered.map((each) => ({ ...each, isWeak: isBelowCutoff(each, isAllWeak) }));
    const withNewerFirst = replacements
      ? newerFirst(rated, ({ hit }) => hit.id, replacements.newer, withRelevanceOf)
      : rated;
    const final = scored ? withFallingRelevance(withNewerFirst, ceiling) : withNewerFirst;
    if (scored) ceiling = final.at(-1)?.relevance ?? ceiling;
    included.push(
      ...final.filter(({ relevance, isWeak }) => !isWeak && !(typeof cutoff === 'object' && relevance < cutoff.below)),
    );
    examined += block.length;
  }
  const page = included.slice(offset, offset + limit);
  return {
    page: page.map(({ hit, relevance, evidence, range }) => ({
      hit,
      relevance,
      evidence,
      range,
      replaces: replacements?.replaces.get(hit.id),
      replacedBy: replacements?.replacedBy.get(hit.id),
    })),
    included: included.length,
    unexamined: ranked.length - examined,
    omitted: Math.max(0, Math.min(limit, ranked.length - offset) - page.length),
    reranking,
  };

  function withScoreOf(newer: Hit | undefined, older: Hit, id: number): Hit | undefined {
    return newer ? { ...newer, score: Math.max(newer.score, older.score) } : createNewerHit(id, older);
  }

  function isBelowCutoff({ relevance, isWeak, evidence }: RerankedHit<Hit> & Verdict, isAllWeak: boolean): boolean {
    const { words = 0, ...others } = evidence;
    const hasWords = isKeywords ? words > 0 : words >= everyWordMin;
    if (cutoff !== 'weak' || hasWords) return false;
    if (isNoise(relevance, best)) return true;
    if (!isWeak && !isAllWeak) return false;
    return !isKeywords || reranker.judge({ ...others, words, logit: undefined, lead: undefined }).isWeak;
  }

  /** Returns the sort key. Hits that the model did not reach in time come last. Without any logits, the order stays. */
  function orderOf({ hit, evidence: { logit } }: Pick<RerankedHit<Hit>, 'hit' | 'evidence'>): number {
    return logit === undefined ? hit.score - unscoredPenalty : hit.score + reranker.weight * logit;
  }

  async function coverageOf(block: readonly Hit[]): Promise<Map<number, number>> {
    const coverage = new Map<number, number>();
    for (const { id, coverage: share } of block) if (share !== undefined) coverage.set(id, share);
    if (deps.words === undefined) return coverage;
    const unscored = block.filter(({ id }) => !coverage.has(id)).map(({ id }) => id);
    // `score` omits hits without any of the words.
    for (const id of unscored) coverage.set(id, 0);
    const scored = unscored.length === 0 ? [] : await deps.words.score(text, unscored, signal);
    for (const { id, coverage: share } of scored) coverage.set(id, share ?? 0);
    return coverage;
  }

  /** Reads and reranks a block. Without the model, only reads the lengths of hits with a cosine. */
  async function readBlock(block: readonly Hit[], isReranked: boolean) {
    const read = block.filter(({ cosine }) => isReranked || cosine !== undefined).map(({ id }) => id);
    const texts = isReranked ? await textsOf(read) : await readTextStarts(read);
    return { texts, scored: isReranked ? await scoresOf(block, texts) : undefined };
  }

  async function readTextStarts(ids: readonly number[]): Promise<ReadonlyMap<number, TextToRerank>> {
    return ids.length === 0 ? new Map() : deps.texts(ids, signal, scaledCharsMax);
  }

  async function textsOf(ids: readonly number[]): Promise<ReadonlyMap<number, TextToRerank>> {
    const unread = ids.filter((id) => !textsRead.has(id));
    const more = unread.length === 0 ? [] : await deps.texts(unread, signal);
    for (const [id, text] of more) textsRead.set(id, text);
    return textsRead;
  }

  async function findBlockEnds(): Promise<readonly number[]> {
    const firstIds = ranked.slice(0, Math.max(0, blockEnds.long[0] - before)).map(({ id }) => id);
    if (firstIds.length === 0 || reranking.state !== 'applied') return blockEnds.long;
    const texts = [...(await textsOf(firstIds)).values()];
    const chars = texts.reduce((sum, { text: body, prefix = '' }) => sum + prefix.length + body.length, 0);
    return chars <= shortChars * texts.length ? blockEnds.short : blockEnds.long;
  }

  async function scoresOf(block: readonly Hit[], texts: ReadonlyMap<number, TextToRerank>) {
    const withTexts = block.flatMap(({ id, window }) => {
      const found = texts.get(id);
      return found === undefined ? [] : [{ ...found, id, window }];
    });
    const parts = deps.parts
      ? await deps.parts(withTexts, text, signal)
      : withTexts.map((each) => bestPart(each, text));
    const inputs = parts.flatMap(({ text: part, range }, index) => {
      const { id, prefix = '' } = withTexts[index] ?? {};
      return id === undefined ? [] : [{ id, range, passage: prefix + part }];
    });
    const { state, logits } = await reranker.score(
      text,
      inputs.map(({ passage }) => passage),
      signal,
    );
    const withLogits = inputs.flatMap(({ id }, index) => {
      const logit = logits[index];
      return logit === undefined ? [] : [{ id, logit, isReplaced: replacements?.replacedBy.has(id) ?? false }];
    });
    const leads = leadsOf(withLogits);
    return {
      state,
      logits: new Map(withLogits.map(({ id, logit }) => [id, logit])),
      leads: new Map(withLogits.map(({ id }, index) => [id, leads[index]])),
      ranges: new Map(inputs.map(({ id, range }) => [id, range])),
    };
  }
}

/** Makes a newer hit at least as relevant as the older one that it replaces. */
function withRelevanceOf<Hit extends Verdict & { readonly evidence: Evidence }>(
  newer: Hit | undefined,
  older: Hit,
): Hit | undefined {
  if (newer === undefined) return undefined;
  const { relevance, evidence } = newer.relevance < older.relevance ? older : newer;
  const { logit, lead } = evidence;
  return { ...newer, relevance, isWeak: newer.isWeak && older.isWeak, evidence: { ...newer.evidence, logit, lead } };
}

function cosineOf({ cosine, window }: RankedHit, text: TextToRerank | undefined): number | undefined {
  return cosine !== undefined && window && text?.isMessage ? unscaledCosine(cosine, text.text, window) : cosine;
}

/** Subtracted from the scores of hits without a logit, so that they come last. */
const unscoredPenalty = 1_000;

/** Makes relevance decrease down the list: if a hit is more relevant than the one before it, both get the average. */
export function withFallingRelevance<Hit extends { readonly relevance: number }>(
  ordered: readonly Hit[],
  ceiling = 1,
): Hit[] {
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
  return ordered.map((hit, index) => ({ ...hit, relevance: threeDigits(Math.min(ceiling, values[index] ?? 0)) }));
}
