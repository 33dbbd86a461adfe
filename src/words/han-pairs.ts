import { dictionarySegments } from './analyse.ts';
import { fold } from './fold.ts';

/**
 * Returns the weight of each pair of characters in a Chinese query. Texts are indexed as overlapping pairs, but not every pair
 * is a word:
 *
 *     女神卡卡唱了什么歌    a word: 女神 (1)    across two words: 神卡 (0.7)    part of a question word: 什么, 么歌 (0)
 *     总经理              inside a longer word that is also a term: 总经, 经理 (0.5)
 *
 * Only runs of Chinese characters are weighted. Other pairs count 1.
 */
export function pairWeights(text: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const [run] of text.matchAll(hanRun)) {
    const words = wordsByCharacter(run);
    const characters = Array.from(run);
    for (let index = 0; index + 1 < characters.length; index += 1) {
      const pair = fold(`${characters[index]}${characters[index + 1]}`);
      const weight = weightOf(words[index], words[index + 1]);
      weights.set(pair, Math.max(weight, weights.get(pair) ?? 0));
    }
  }
  return weights;
}

const acrossWeight = 0.7;
const withinWeight = 0.5;

const hanRun =
  /(?<![\p{scx=Hiragana}\p{scx=Katakana}])\p{sc=Han}{2,}(?![\p{scx=Hiragana}\p{scx=Katakana}\p{sc=Han}])/gu;

/** Matches who, what, which, where, when, how, why, how many, how long, and particles that end a question. */
const questionWord =
  /^(?:[谁誰].?|哪.?|什[么麼].*|[为為]什[么麼]|怎[么麼样樣].*|如何|[为為]何|何[时時地种種人]?|多[少大久长長]?|[几幾].?|[吗嗎呢吧]|是否)$/u;

interface Word {
  readonly length: number;
  readonly isQuestionWord: boolean;
}

function weightOf(first: Word | undefined, second: Word | undefined): number {
  if (first?.isQuestionWord || second?.isQuestionWord) return 0;
  if (first !== second) return acrossWeight;
  return (first?.length ?? 0) > 2 ? withinWeight : 1;
}

function wordsByCharacter(run: string): Word[] {
  const words: Word[] = [];
  for (const { segment } of dictionarySegments(run)) {
    const characters = Array.from(segment);
    const word: Word = { length: characters.length, isQuestionWord: questionWord.test(segment) };
    for (const _ of characters) words.push(word);
  }
  return words;
}
