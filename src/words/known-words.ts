import { readFileSync } from 'node:fs';
import { packageFile } from '../base/program-files.ts';

/** 21,000 common words, and fragments of rarer ones. */
const tokenizer = 'models/carrel-embedding-1/tokenizer.json';

let words: ReadonlySet<string> | undefined;

/** True if the word, in lower case, is one token of the tokenizer. Such a word is spelt right. */
export function isKnownWord(word: string): boolean {
  words ??= readWords();
  return words.has(word);
}

/** Takes about 10 ms. A package without the model knows no words. */
function readWords(): ReadonlySet<string> {
  try {
    const { model }: { model: { vocab: Record<string, number> } } = JSON.parse(
      readFileSync(packageFile(tokenizer), 'utf8'),
    );
    return new Set(Object.keys(model.vocab).filter((piece) => /^[a-z]{3,}$/.test(piece)));
  } catch {
    return new Set();
  }
}
