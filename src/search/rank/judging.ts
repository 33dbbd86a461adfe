import { isKeywords as areKeywords } from '../../words/word-query.ts';
import { crowdChars, uncrowded } from '../meaning/passage-vectors.ts';
import { bestPart, type TextPart, type Windowed } from '../rerank/best-part.ts';
import { type Reranker, type RerankingState, rerankingOff } from '../rerank/reranker.ts';
import type { WordLeg } from './legs.ts';
import { type Evidence, leadsOf, threeDigits, type Verdict } from './relevance.ts';
import { comparedMax, newerFirst, type Replacements } from './replacements.ts';

export interface RankedHit {
  readonly id: number;
  /** The sort key, higher is better: 0 to 1. */
  readonly score: number;
  readonly cosine?: number | undefined;
  /** How much of the query's words it has, if known. */
  readonly coverage?: number | undefined;
  /** The part nearest to the query. */
  readonly window?: { readonly start: number; readonly end: number } | undefined;
}

export interface JudgedHit<Hit> {
  readonly hit: Hit;
  readonly relevance: number;
  readonly evidence: Evidence;
  /** The part of its text that the model read, if any. */
  readonly range?: TextPart['range'] | undefined;
  /** The ids of the older hit that it replaces and of the newer hit that replaces it. */
  readonly replaces?: number | undefined;
  readonly replacedBy?: number | undefined;
}

export interface JudgeRequest {
  readonly text: string;
  readonly limit: number;
  readonly offset: number;
  readonly cut?: Cut | undefined;
  /** How many better-ranked hits come before the given ones; 0 by default. */
  readonly before?: number;
  readonly signal?: AbortSignal | undefined;
}

/** `weak` omits weak hits, except those with every query word (for keywords, any). `below` omits all below that relevance. */
export type Cut = 'weak' | { readonly below: number };

export interface JudgeDeps {
  readonly reranker: Reranker;
  /**
   * The texts that the model reads for these hits, or at most `charsMax` characters of each if there is no model. Deleted hits
   * are omitted.
   */
  texts(ids: readonly number[], signal?: AbortSignal, charsMax?: number): Promise<ReadonlyMap<number, TextToJudge>>;
  /** The best part of each text, found off this thread. For callers with long texts. */
  parts?(texts: readonly Windowed[], query: string, signal?: AbortSignal): Promise<readonly TextPart[]>;
  /** Looks up unknown coverage. Undefined if words are not searched. */
  readonly words: Pick<WordLeg, 'score'> | undefined;
  /** Finds hits that newer ones replace. Absent if texts are never replaced. */
  replacements?(ids: readonly number[], signal?: AbortSignal): Promise<Replacements>;
}

export interface TextToJudge {
  readonly text: string;
  /** Prefix for every part: title and headings, or the end of the previous message. */
  readonly lead?: string | undefined;
  /** True for a chat message, false for part of a document; see passage-vectors.ts. */
  readonly isMessage?: boolean;
}

export interface JudgedPage<Hit> {
  readonly page: readonly JudgedHit<Hit>[];
  /** Hits that were not omitted, on this page or not, among those examined. */
  readonly kept: number;
  /** Hits after those examined. */
  readonly unseen: number;
  /** Omitted hits that would otherwise be on this page. */
  readonly omitted: number;
  readonly reranking: RerankingState;
}

/**
 * Reranked in blocks, so that the order does not depend on the page: the best 50 if they are short, else the best 20, and the
 * next 30 if the page needs them.
 */
const blockEnds = { short: [50], long: [20, 50] } as const;

/** Mean characters of short texts. */
const shortChars = 300;

/** Max hits reranked. */
export const rerankedMax = 50;

/** How much of a list to fetch, so that the best can be reranked for any page. */
export function reachOf({ limit, offset }: { limit: number; offset: number }): { limit: number; offset: number } {
  return offset < rerankedMax ? { limit: Math.max(rerankedMax, offset + limit), offset: 0 } : { limit, offset };
}

/** Hits per block without reranking: few enough for one word query. */
const unrerankedBlock = 400;

/** Min coverage of a hit with every word, allowing for rounding. */
const everyWord = 1 - 1e-9;

/**
 * Reranks, judges, drops weak hits and takes the page. Without reranking, the order stays and other evidence decides. A hit that
 * replaces another comes before it and is as relevant. `unfound` creates a hit that was not among the given ones.
 */
export async function judgePage<Hit extends RankedHit>(
  request: JudgeRequest,
  given: readonly Hit[],
  deps: JudgeDeps,
  unfound: (id: number, older: Hit) => Hit | undefined = () => undefined,
): Promise<JudgedPage<Hit>> {
  const { text, limit, offset, cut, before = 0, signal } = request;
  const { reranker } = deps;
  // The model can't judge a bare keyword: it is not a question.
  const isKeywords = areKeywords(text);
  const compared = before === 0 ? given.slice(0, comparedMax).map(({ id }) => id) : [];
  const replacements = compared.length === 0 ? undefined : await deps.replacements?.(compared, signal);
  const ranked = replacements ? newerFirst(given, ({ id }) => id, replacements.newer, ranksAs) : given;
  const kept: JudgedHit<Hit>[] = [];
  let reranking: RerankingState = reranker.provider ? { state: 'applied' } : rerankingOff;
  let ceiling = 1;
  let seen = 0;
  const known = new Map<number, TextToJudge>();
  const ends = await endsOfBlocks();
  while (seen < ranked.length && kept.length < offset + limit) {
    const end = ends.find((each) => each > before + seen) ?? Number.POSITIVE_INFINITY;
    const block = ranked.slice(seen, Math.min(end - before, seen + unrerankedBlock));
    // If the model found the whole best block weak, the rest will not be better.
    const isHopeless = cut === 'weak' && seen > 0 && kept.length === 0 && reranking.state === 'applied';
    const isReranked = end !== Number.POSITIVE_INFINITY && reranking.state === 'applied' && !isHopeless;
    const [coverage, { texts, scored }] = await Promise.all([
      coverageOf(block),
      readingOf(isHopeless ? [] : block, isReranked),
    ]);
    if (scored) reranking = scored.state;
    const judged = block.map((hit) => {
      const [words, logit, told] = [coverage.get(hit.id), scored?.logits.get(hit.id), texts.get(hit.id)];
      const evidence = {
        logit,
        lead: scored?.leads.get(hit.id),
        words,
        cosine: cosineOf(hit, told),
        length: told?.text.length,
      };
      return { hit, evidence, range: scored?.ranges.get(hit.id), ...reranker.judge(evidence) };
    });
    const ordered = scored
      ? judged.toSorted((left, right) => orderOf(right) - orderOf(left))
      : judged.map((each) => ({ ...each, relevance: Math.min(ceiling, each.relevance) }));
    const cutOff = ordered.map((each) => ({ ...each, isWeak: isCut(each, isHopeless) }));
    const placed = replacements ? newerFirst(cutOff, ({ hit }) => hit.id, replacements.newer, countsAs) : cutOff;
    const shown = scored ? falling(placed, ceiling) : placed;
    if (scored) ceiling = shown.at(-1)?.relevance ?? ceiling;
    kept.push(
      ...shown.filter(({ relevance, isWeak }) => !isWeak && !(typeof cut === 'object' && relevance < cut.below)),
    );
    seen += block.length;
  }
  const page = kept.slice(offset, offset + limit);
  return {
    page: page.map(({ hit, relevance, evidence, range }) => ({
      ...{ hit, relevance, evidence, range },
      replaces: replacements?.replaces.get(hit.id),
      replacedBy: replacements?.replacedBy.get(hit.id),
    })),
    kept: kept.length,
    unseen: ranked.length - seen,
    omitted: Math.max(0, Math.min(limit, ranked.length - offset) - page.length),
    reranking,
  };

  function ranksAs(newer: Hit | undefined, older: Hit, id: number): Hit | undefined {
    return newer ? { ...newer, score: Math.max(newer.score, older.score) } : unfound(id, older);
  }

  function isCut({ isWeak, evidence }: JudgedHit<Hit> & Verdict, isHopeless: boolean): boolean {
    const { words = 0, ...others } = evidence;
    if (cut !== 'weak' || !(isWeak || isHopeless) || words >= (isKeywords ? Number.MIN_VALUE : everyWord)) return false;
    return !isKeywords || reranker.judge({ ...others, words, logit: undefined, lead: undefined }).isWeak;
  }

  /** Hits that were not reached in time come last. Without any logits the order stays. */
  function orderOf({ hit, evidence: { logit } }: Pick<JudgedHit<Hit>, 'hit' | 'evidence'>): number {
    return logit === undefined ? hit.score - unscoredLoss : hit.score + reranker.weight * logit;
  }

  async function coverageOf(block: readonly Hit[]): Promise<Map<number, number>> {
    const known = new Map<number, number>();
    for (const { id, coverage } of block) if (coverage !== undefined) known.set(id, coverage);
    if (deps.words === undefined) return known;
    const unknown = block.filter(({ id }) => !known.has(id)).map(({ id }) => id);
    // The answer omits hits without any of the words.
    for (const id of unknown) known.set(id, 0);
    const told = unknown.length === 0 ? [] : await deps.words.score(text, unknown, signal);
    for (const { id, coverage } of told) known.set(id, coverage ?? 0);
    return known;
  }

  /** Without the model, only the lengths of hits with a cosine are needed. */
  async function readingOf(block: readonly Hit[], isReranked: boolean) {
    const read = block.filter(({ cosine }) => isReranked || cosine !== undefined).map(({ id }) => id);
    const texts = isReranked ? await textsOf(read) : await shortTexts(read);
    return { texts, scored: isReranked ? await scoresOf(block, texts) : undefined };
  }

  async function shortTexts(ids: readonly number[]): Promise<ReadonlyMap<number, TextToJudge>> {
    return ids.length === 0 ? new Map() : deps.texts(ids, signal, crowdChars);
  }

  async function textsOf(ids: readonly number[]): Promise<ReadonlyMap<number, TextToJudge>> {
    const unknown = ids.filter((id) => !known.has(id));
    const more = unknown.length === 0 ? [] : await deps.texts(unknown, signal);
    for (const [id, told] of more) known.set(id, told);
    return known;
  }

  async function endsOfBlocks(): Promise<readonly number[]> {
    const best = ranked.slice(0, Math.max(0, blockEnds.long[0] - before)).map(({ id }) => id);
    if (best.length === 0 || reranking.state !== 'applied') return blockEnds.long;
    const texts = [...(await textsOf(best)).values()];
    const chars = texts.reduce((sum, { text: whole, lead = '' }) => sum + lead.length + whole.length, 0);
    return chars <= shortChars * texts.length ? blockEnds.short : blockEnds.long;
  }

  async function scoresOf(block: readonly Hit[], texts: ReadonlyMap<number, TextToJudge>) {
    const whole = block.flatMap(({ id, window }) => {
      const told = texts.get(id);
      return told === undefined ? [] : [{ ...told, id, window }];
    });
    const parts = deps.parts ? await deps.parts(whole, text, signal) : whole.map((each) => bestPart(each, text));
    const read = parts.flatMap(({ text: part, range }, place) => {
      const { id, lead = '' } = whole[place] ?? {};
      return id === undefined ? [] : [{ id, range, passage: lead + part }];
    });
    const { state, logits } = await reranker.score(
      text,
      read.map(({ passage }) => passage),
      signal,
    );
    const known = read.flatMap(({ id }, place) => {
      const logit = logits[place];
      return logit === undefined ? [] : [{ id, logit, isReplaced: replacements?.replacedBy.has(id) ?? false }];
    });
    const leads = leadsOf(known);
    return {
      state,
      logits: new Map(known.map(({ id, logit }) => [id, logit])),
      leads: new Map(known.map(({ id }, place) => [id, leads[place]])),
      ranges: new Map(read.map(({ id, range }) => [id, range])),
    };
  }
}

function countsAs<Hit extends Verdict & { readonly evidence: Evidence }>(
  newer: Hit | undefined,
  older: Hit,
): Hit | undefined {
  if (newer === undefined) return undefined;
  const { relevance, evidence } = newer.relevance < older.relevance ? older : newer;
  const { logit, lead } = evidence;
  return { ...newer, relevance, isWeak: newer.isWeak && older.isWeak, evidence: { ...newer.evidence, logit, lead } };
}

function cosineOf({ cosine, window }: RankedHit, told: TextToJudge | undefined): number | undefined {
  return cosine !== undefined && window && told?.isMessage ? uncrowded(cosine, told.text, window) : cosine;
}

/** Puts hits without a logit last: more than any score and logit add up to. */
const unscoredLoss = 1_000;

/** Averages the relevance of neighbours where it would rise, so that it never rises down the list. */
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
