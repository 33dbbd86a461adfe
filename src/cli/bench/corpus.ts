import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Corpus {
  readonly bytes: number;
  /** Queries of a few words, most of them from one of the documents. */
  readonly queries: readonly string[];
}

const queriesCount = 40;
/** Words per document. An invented word has about three times as many tokens as an English one. */
const wordsPerDocument = 80;
const wordsPerSentence = 16;
const vocabularySize = 6_000;

/** Writes documents of invented words with a natural frequency distribution. They are the same on every run. */
export function writeCorpus(folder: string, documents: number): Corpus {
  mkdirSync(folder, { recursive: true });
  const random = createRandom(1);
  const vocabulary = Array.from({ length: vocabularySize }, () => makeWord(random));
  // Squaring a uniform value approximates Zipf's law.
  const pick = (): string => vocabulary[Math.floor(random() ** 2 * vocabularySize)] ?? '';
  const queries: string[] = [];
  let bytes = 0;
  for (let index = 0; index < documents; index += 1) {
    const words = Array.from({ length: wordsPerDocument }, pick);
    const text = `# ${words.slice(0, 4).join(' ')}\n\n${sentences(words)}\n`;
    bytes += Buffer.byteLength(text);
    writeFileSync(join(folder, `${String(index).padStart(6, '0')}.md`), text);
    if (queries.length < queriesCount && random() < (2 * queriesCount) / documents) {
      queries.push([words[20], words[40], words[60]].join(' '));
    }
  }
  while (queries.length < queriesCount) queries.push(`${pick()} ${pick()} ${pick()}`);
  return { bytes, queries };
}

function sentences(words: readonly string[]): string {
  const parts: string[] = [];
  for (let at = 0; at < words.length; at += wordsPerSentence) {
    parts.push(`${words.slice(at, at + wordsPerSentence).join(' ')}.`);
  }
  return parts.join(' ');
}

const beginnings = ['b', 'br', 'c', 'ch', 'd', 'f', 'g', 'h', 'l', 'm', 'n', 'p', 'r', 's', 'st', 't', 'v', 'w'];
const middles = ['a', 'e', 'i', 'o', 'u', 'ai', 'ou', 'ea'];
const endings = ['', 'n', 'r', 's', 't', 'nd', 'rk', 'l', 'm'];

function makeWord(random: () => number): string {
  const pick = (parts: readonly string[]): string => parts[Math.floor(random() * parts.length)] ?? '';
  const syllables = 1 + Math.floor(random() * 3);
  return Array.from({ length: syllables }, () => pick(beginnings) + pick(middles) + pick(endings)).join('');
}

/** A linear congruential generator: reproducible everywhere. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
