/**
 * Measures spelling correction: one word of each query gets one random typo (sometimes two in words of eight letters or more).
 * Counts the misspelt queries whose first five results include the first result of the correct query, with keyword search and the
 * shipped settings. Also reports the CPU time of correct and misspelt queries.
 *
 *     node bench/quality/typos.ts --data ../shared/data [--sets locomo,scifact,chroma-chunking] [--count 500]
 */
import { parseArgs } from 'node:util';
import { leavesOf, plainQuery } from '../../src/words/word-query.ts';
import { createRandom, mean, quantile, shuffle } from '../statistics.ts';
import { type DataSet, loadDataSet } from './data-set.ts';
import { createProductRetrievers, type ProductRetrievers } from './product-retrievers.ts';

const { values: options } = parseArgs({
  options: {
    data: { type: 'string', default: '../shared/data' },
    sets: { type: 'string', default: 'locomo,scifact,chroma-chunking' },
    count: { type: 'string', default: '500' },
  },
});

const letters = 'abcdefghijklmnopqrstuvwxyz';
const random = createRandom(20);
const names = options.sets.split(',');
console.log('| set (n) | found | share | mean CPU ms correct / misspelt | 95th |');
console.log('| --- | --- | --- | --- | --- |');
for (const name of names) {
  const set = loadDataSet(options.data, name);
  if (set) await report(set, Math.ceil(Number(options.count) / names.length));
  else console.error(`${name}: not in ${options.data}`);
}

async function report(set: DataSet, count: number): Promise<void> {
  const retrievers = await createProductRetrievers(set, undefined);
  await measure('questions', set, retrievers, set.queries, count);
  const singleWords = set.passages.flatMap(({ text, group }) => {
    const words = wordsIn(text);
    const [word] = words[Math.floor(random() * words.length)] ?? [];
    return word === undefined ? [] : [{ text: word, group }];
  });
  await measure('words', set, retrievers, singleWords, count);
  await retrievers.close();
}

async function measure(
  kind: string,
  set: DataSet,
  retrievers: ProductRetrievers,
  queries: readonly { text: string; group: string }[],
  count: number,
): Promise<void> {
  const search = (text: string, group: string) => retrievers.forGroup(group).words.search(text, 5);
  const times: { correct: number[]; misspelt: number[] } = { correct: [], misspelt: [] };
  let [tried, found] = [0, 0];
  for (const { text, group } of shuffle(queries, random)) {
    if (tried === count) break;
    const misspelt = misspell(text);
    if (misspelt === undefined) continue;
    const expected = await measureCpu(times.correct, () => search(text, group));
    const [first] = expected;
    if (first === undefined) continue;
    const hits = await measureCpu(times.misspelt, () => search(misspelt.text, group));
    tried += 1;
    if (hits.some(({ id }) => id === first.id)) found += 1;
    else if (process.env['SHOW']) console.error(`${misspelt.word} → ${misspelt.typo}: ${text}`);
  }
  const formatBoth = (value: (values: readonly number[]) => number) =>
    `${value(times.correct).toFixed(1)} / ${value(times.misspelt).toFixed(1)}`;
  const percent = `${((100 * found) / tried).toFixed(1)} %`;
  console.log(
    `| ${set.name}, ${kind} (${tried}) | ${found} | ${percent} | ${formatBoth(mean)} | ${formatBoth((values) => quantile(values, 0.95))} |`,
  );
}

/** Puts a typo into one word of the query. Returns undefined if no word is suitable. */
function misspell(text: string): { text: string; word: string; typo: string } | undefined {
  const words = wordsIn(text);
  const match = words[Math.floor(random() * words.length)];
  if (match === undefined) return undefined;
  const [word] = match;
  const edits = word.length > 7 && random() < 0.3 ? 2 : 1;
  let typo = word;
  for (let edit = 0; edit < edits; edit += 1) typo = addTypo(typo);
  if (typo.toLowerCase() === word.toLowerCase()) return undefined;
  const replaceWord = (replacement: string) =>
    text.slice(0, match.index) + replacement + text.slice(match.index + word.length);
  return { text: replaceWord(typo), word, typo };
}

/** Returns the words that may be corrected. Quoted words and names are searched literally, so they are skipped. */
function wordsIn(text: string): RegExpExecArray[] {
  return [...text.matchAll(/(?<=^|[\s(])\p{L}\p{Ll}{3,}(?=$|[\s,;?!).])/gu)].filter(
    ([word]) => !text.includes('"') && leavesOf(plainQuery(word, { allowsQuestionWords: false })).length > 0,
  );
}

/** Makes one typo: a missing, extra, wrong or swapped letter. */
function addTypo(word: string): string {
  const at = Math.floor(random() * word.length);
  const letter = letters[Math.floor(random() * letters.length)] ?? 'e';
  const [prefix, suffix] = [word.slice(0, at), word.slice(at)];
  switch (Math.floor(random() * 4)) {
    case 0:
      return prefix + suffix.slice(1);
    case 1:
      return prefix + letter + suffix;
    case 2:
      return prefix + letter + suffix.slice(1);
    default:
      return prefix + (suffix[1] ?? '') + (suffix[0] ?? '') + suffix.slice(2);
  }
}

async function measureCpu<Result>(times: number[], run: () => Promise<Result>): Promise<Result> {
  const before = process.cpuUsage();
  const result = await run();
  const { user, system } = process.cpuUsage(before);
  times.push((user + system) / 1000);
  return result;
}
