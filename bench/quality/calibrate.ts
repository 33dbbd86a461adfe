/**
 * Fits the relevance of search results on judged questions, chooses the threshold below which results are hidden,
 * and reports the quality of both.
 *
 *     node bench/quality/calibrate.ts --data ../shared/data [--sets scifact,cosqa] [--split dev] [--hits file] [--lost 0.015]
 *         [--passages 900]
 *
 * `--lost` is the share of relevant results that the threshold may hide. `--hits` keeps the search results between runs. `--check`
 * fits nothing and measures the fits in models/reranker-int8/model.json. `--model none` turns reranking off. The printed
 * `calibration` belongs in model.json. The shipped one was made with these options:
 *
 *     --data ../shared/data,<output folder of training/written.py> --sets scifact,cosqa,chroma-chunking,cranfield,chats
 *
 * `onTopic` and `onTopicMin` come from a run on the whole sets. The other values of the reranked fits come from a run with
 * `--passages 900`, because most users store hundreds of texts, not thousands. docs/decisions/0017-relevance-threshold.md tells
 * how their intercept was chosen.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bundledModelFolder } from '../../src/search/models/bundled-model.ts';
import { createLocalEmbeddings } from '../../src/search/models/local-embeddings.ts';
import {
  type Calibration,
  type Feature,
  featureValue,
  isNoise,
  judge,
  type LogisticWeights,
  type Regression,
} from '../../src/search/rank/relevance.ts';
import { withFallingRelevance } from '../../src/search/rank/rerank-page.ts';
import { bundledRerankerFolder, readRerankerSettings } from '../../src/search/rerank/bundled-reranker.ts';
import { openBenchReranker } from './bench-reranker.ts';
import { createCachedEmbeddings } from './cached-embeddings.ts';
import { type BenchQuery, type DataSet, loadDataSet } from './data-set.ts';
import { collectHits, type JudgedHit } from './judged-hits.ts';
import { fitLogistic } from './logistic.ts';
import { offTopicQuestions } from './off-topic-questions.ts';
import { createProductRetrievers } from './product-retrievers.ts';

const { values: options } = parseArgs({
  options: {
    data: { type: 'string', default: '../shared/data' },
    // LoCoMo is only measured: its licence is non-commercial, so it must not influence the shipped fits.
    sets: { type: 'string', default: 'scifact,cosqa,chroma-chunking,cranfield' },
    measured: { type: 'string', default: 'locomo' },
    split: { type: 'string', default: 'dev' },
    questions: { type: 'string', default: '300' },
    passages: { type: 'string', default: '1000000' },
    cache: { type: 'string', default: join(tmpdir(), 'carrel-bench-vectors') },
    'off-topic': { type: 'string', default: '200' },
    hits: { type: 'string' },
    model: { type: 'string' },
    lost: { type: 'string', default: '0.015' },
    check: { type: 'boolean', default: false },
  },
});

/** Each set gets every third off-topic question, which is enough and takes a third of the time. */
const offTopicRounds = 3;

const featureSets: Feature[][] = [
  ['doubt', 'lead', 'words', 'cosine', 'length'],
  ['doubt', 'lead', 'words'],
  ['doubt', 'lead', 'cosine', 'length'],
  ['doubt', 'lead'],
  ['words', 'cosine', 'length'],
  ['cosine', 'length'],
  ['words'],
];

/** Weight of a set in the relevance fits; 1 by default. Lower for Cranfield, whose questions have seven answers each. */
const setWeights: Record<string, number> = { cranfield: 0.5 };

/** Weight of off-topic results in the relevance fits, relative to the set's own results. */
const offTopicWeight = 0.25;

const [fittedOn, measured] = [options.sets.split(','), options.measured.split(',').filter((name) => name !== '')];
const hits = await readHits();
const topTen = { reranked: hits.filter(({ rank }) => rank <= 10), notReranked: bestByFusion(hits, 10) };
const calibration = options.check
  ? (readRerankerSettings(bundledRerankerFolder()).calibration ?? [])
  : featureSets.flatMap((features) => fitFeatures(features) ?? []);
if (!options.check) {
  console.log(JSON.stringify({ calibration: { fits: calibration } }, null, 2));
}
report(calibration);

function fitFeatures(features: readonly Feature[]): Regression | undefined {
  const relevance = fitRelevance(features);
  if (relevance === undefined) return undefined;
  // Keywords alone say little about semantic results, so this fit has no threshold (0).
  if (features.join() === 'words') return { features, ...relevance, onTopicMin: 0 };
  const onTopic = fitOnTopic(features);
  const fit = { features, ...relevance, onTopic, onTopicMin: 0 };
  return { ...fit, onTopicMin: thresholdOf(fit) };
}

/** Fits relevance. Drops features with a negative weight: these only reflect how the sets differ. */
function fitRelevance(features: readonly Feature[]): LogisticWeights | undefined {
  // With a reranker, `doubt` and `lead` suffice: the other features add nothing.
  const informative = features.includes('doubt')
    ? features.filter((name) => name === 'doubt' || name === 'lead')
    : features;
  const initialFit =
    informative.length === features.length ? fitHits(features, () => true, relevanceWeight) : undefined;
  const selected = initialFit ? features.filter((_, index) => (initialFit.weights[index] ?? 0) >= 0) : informative;
  if (selected.length === features.length) return initialFit;
  const reduced = fitRelevance(selected);
  return reduced && { ...reduced, weights: features.map((name) => reduced.weights[selected.indexOf(name)] ?? 0) };
}

function relevanceWeight({ set, isOffTopic }: JudgedHit): number {
  return (setWeights[set] ?? 1) * (isOffTopic ? offTopicWeight : 1);
}

/** Fits the threshold: separates relevant results from the results of off-topic questions. */
function fitOnTopic(features: readonly Feature[]): LogisticWeights | undefined {
  return fitHits(features, (hit) => hit.isOffTopic || hit.gain > 0);
}

/** Fits the hits that `isUsed` selects. By default, each set's results and its off-topic results have the same total weight. */
function fitHits(
  features: readonly Feature[],
  isUsed: (hit: JudgedHit) => boolean,
  weightOf: (hit: JudgedHit) => number = () => 1,
): LogisticWeights | undefined {
  const usable = topTenFor(features).filter(
    (hit) =>
      isUsed(hit) && fittedOn.includes(hit.set) && features.every((name) => featureValue(hit, name) !== undefined),
  );
  if (usable.length === 0) return undefined;
  const groupOf = ({ set, isOffTopic }: JudgedHit) => `${set} ${isOffTopic}`;
  const sizes = Map.groupBy(usable, groupOf);
  const { intercept, weights } = fitLogistic(
    usable.map((hit) => ({
      values: features.map((name) => featureValue(hit, name) ?? 0),
      isRelevant: hit.gain > 0,
      weight: weightOf(hit) / (sizes.get(groupOf(hit))?.length ?? 1),
    })),
  );
  return { intercept: round(intercept), weights: weights.map(round) };
}

/**
 * Finds the highest threshold that hides at most the share `--lost` of the relevant results among the first ten, averaged over
 * the sets. Returns three quarters of it, as a margin for relevant results that score lower on other data.
 */
function thresholdOf(fit: Regression): number {
  const lost = Number(options.lost);
  let best = 0;
  for (let step = 1; step < 500; step++) {
    const onTopicMin = step / 1000;
    const shares = fittedOn.map((set) => {
      const { hidden, total } = hiddenRelevant(set, [{ ...fit, onTopicMin }]);
      return hidden / Math.max(1, total);
    });
    if (mean(shares) > lost || Math.max(...shares) > 2 * lost) break;
    best = onTopicMin;
  }
  return round(0.75 * best);
}

/** Returns the results of the searches that provide these features: with or without reranking. */
function topTenFor(features: readonly Feature[]): readonly JudgedHit[] {
  return features.includes('doubt') ? topTen.reranked : topTen.notReranked;
}

function bestByFusion(all: readonly JudgedHit[], count: number): JudgedHit[] {
  return groupByQuestion(all).flatMap((list) =>
    list.toSorted((left, right) => right.fused - left.fused).slice(0, count),
  );
}

/** Groups the hits by question, best first. */
function groupByQuestion(all: readonly JudgedHit[]): JudgedHit[][] {
  const lists: JudgedHit[][] = [];
  for (const hit of all) {
    if (hit.rank === 1) lists.push([]);
    lists.at(-1)?.push(hit);
  }
  return lists;
}

function isHidden(hit: JudgedHit, fits: Calibration): boolean {
  return judge(hit, fits).isWeak && !hasEveryWord(hit);
}

function hasEveryWord({ words = 0 }: JudgedHit): boolean {
  return words >= 1 - 1e-9;
}

function hiddenRelevant(set: string, fits: Calibration): { hidden: number; total: number } {
  const relevant = topTenFor(fits[0]?.features ?? []).filter((hit) => hit.set === set && hit.gain > 0);
  return { hidden: relevant.filter((hit) => isHidden(hit, fits)).length, total: relevant.length };
}

/** Returns the hits of a set that the product hides, noise included. */
function hiddenBy(fits: Calibration, set: string): Set<JudgedHit> {
  const isReranked = fits[0]?.features.includes('doubt');
  const hidden = groupByQuestion(hits.filter((hit) => hit.set === set)).flatMap((list) => {
    const best = isReranked ? Math.max(...list.map((hit) => judge(hit, fits).relevance)) : 0;
    return list.filter(
      (hit) => isHidden(hit, fits) || (!hasEveryWord(hit) && isNoise(judge(hit, fits).relevance, best)),
    );
  });
  return new Set(hidden);
}

/** Rates the hits as the product does: with a reranker, relevance never rises from one hit to the next. */
function relevanceOf(list: readonly JudgedHit[], fits: Calibration) {
  const judged = list.map((hit) => ({ hit, relevance: judge(hit, fits).relevance }));
  return fits[0]?.features.includes('doubt') ? withFallingRelevance(judged) : judged;
}

function report(fits: Calibration): void {
  const modes: [string, Calibration][] = [
    ['reranked', fits],
    ['without reranking', fits.filter(({ features }) => !features.includes('doubt'))],
  ];
  for (const [name, mode] of modes) {
    console.log(`\n${name}: threshold ${mode[0]?.features.join('+')} ${mode[0]?.onTopicMin}`);
    console.log(
      '| set | questions | ECE of the first ten | mean relevance | relevant | relevant hidden | off-topic hidden |',
    );
    console.log('|---|---|---|---|---|---|---|');
    for (const set of [...fittedOn, ...measured]) {
      const hitsOfSet = topTenFor(mode[0]?.features ?? []).filter((hit) => hit.set === set);
      const judged = hitsOfSet.filter(({ isOffTopic }) => !isOffTopic);
      const offTopicHits = hitsOfSet.filter(({ isOffTopic }) => isOffTopic);
      if (judged.length === 0) continue;
      const pairs = groupByQuestion(hits.filter((hit) => hit.set === set && !hit.isOffTopic))
        .flatMap((list) => relevanceOf(list, mode))
        .filter(({ hit }) => judged.includes(hit))
        .map(({ hit, relevance }) => ({ relevance, isRelevant: hit.gain > 0 }));
      const hidden = hiddenBy(mode, set);
      const relevant = hitsOfSet.filter(({ gain }) => gain > 0);
      const cells = [
        calibrationError(pairs).toFixed(3),
        mean(pairs.map(({ relevance }) => relevance)).toFixed(3),
        mean(pairs.map(({ isRelevant }) => (isRelevant ? 1 : 0))).toFixed(3),
        `${relevant.filter((hit) => hidden.has(hit)).length} of ${relevant.length}`,
        `${offTopicHits.filter((hit) => hidden.has(hit)).length} of ${offTopicHits.length}`,
      ];
      console.log(`| ${set} | ${new Set(judged.map(({ question }) => question)).size} | ${cells.join(' | ')} |`);
    }
  }
}

/** Returns the expected calibration error over ten bins of equal size. */
function calibrationError(pairs: readonly { relevance: number; isRelevant: boolean }[]): number {
  const sorted = pairs.toSorted((left, right) => left.relevance - right.relevance);
  let error = 0;
  for (let bin = 0; bin < 10; bin++) {
    const part = sorted.slice((bin * sorted.length) / 10, ((bin + 1) * sorted.length) / 10);
    const gap = mean(part.map(({ relevance }) => relevance)) - mean(part.map(({ isRelevant }) => (isRelevant ? 1 : 0)));
    error += (Math.abs(gap) * part.length) / sorted.length;
  }
  return error;
}

async function readHits(): Promise<JudgedHit[]> {
  if (options.hits !== undefined && existsSync(options.hits)) return JSON.parse(readFileSync(options.hits, 'utf8'));
  const reranker = openBenchReranker(options.model);
  const provider = createLocalEmbeddings({
    modelFolder: bundledModelFolder(),
    threads: 1,
    queuedTextsMax: 1_000_000,
    textTimeoutMs: 60_000,
  });
  const collected: JudgedHit[] = [];
  const names = [...fittedOn, ...measured];
  for (const [index, name] of names.entries()) {
    const set = options.data.split(',').flatMap((folder) => loadDataSet(folder, name) ?? [])[0];
    if (set === undefined) {
      console.error(`${name}: not in ${options.data}`);
      continue;
    }
    const queries = set.queries.filter(({ id, split }) => split === options.split && !isTrainingQuestion(set.name, id));
    const step = Math.max(1, queries.length / Number(options.questions));
    const questions = Array.from({ length: Math.min(queries.length, Number(options.questions)) }, (_, at) =>
      queries.slice(Math.floor(at * step), Math.floor(at * step) + 1),
    ).flat();
    const offTopic = offTopicQuestions
      .map((_, number) => number)
      .filter((number) => number % offTopicRounds === index % offTopicRounds)
      .slice(0, Number(options['off-topic']));
    const part = sampleOf(set, questions, Number(options.passages));
    const embeddings = createCachedEmbeddings(provider, options.cache, set.name);
    const retrievers = await createProductRetrievers(part, embeddings, reranker);
    collected.push(...(await collectHits(part, retrievers, part.queries, offTopic)));
    await retrievers.close();
  }
  await Promise.all([provider.close(), reranker.close()]);
  if (options.hits !== undefined) writeFileSync(options.hits, JSON.stringify(collected));
  return collected;
}

/** Selects these questions, their answers and evenly spaced other passages. Conversations stay complete. */
function sampleOf(set: DataSet, questions: readonly BenchQuery[], count: number): DataSet {
  const isComplete = set.passages.length <= count || set.passages.some(({ group }) => group !== '');
  if (isComplete) return { ...set, queries: [...questions] };
  const answers = new Set(questions.flatMap(({ relevant }) => [...relevant.keys()]));
  const remaining = [...set.passages.keys()].filter((number) => !answers.has(number));
  const added = Math.max(0, count - answers.size);
  const spaced = Array.from(
    { length: added },
    (_, index) => remaining[Math.floor((index * remaining.length) / added)] ?? 0,
  );
  const selected = [...answers, ...spaced];
  const numbers = new Map(selected.map((number, index) => [number, index]));
  return {
    ...set,
    passages: selected.flatMap((number) => set.passages[number] ?? []),
    queries: questions.map((query) => ({
      ...query,
      relevant: new Map([...query.relevant].map(([number, gain]) => [numbers.get(number) ?? 0, gain])),
    })),
  };
}

/** Returns true for the 70 % of questions that the reranker was trained on. Its scores for these are too confident. */
function isTrainingQuestion(set: string, id: string): boolean {
  if (options.split !== 'dev' || !['scifact', 'cosqa', 'chroma-chunking'].includes(set)) return false;
  const hash = createHash('md5').update(`20261115${id}`).digest('hex');
  return BigInt(`0x${hash}`) % 1000n >= 300n;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
