import { readFileSync } from 'node:fs';
import { packageFile } from '../base/program-files.ts';

/** The bundled tokenizer, with 21,000 common words and fragments of rarer ones. */
const tokenizer = 'models/carrel-embedding-1/tokenizer.json';

let words: ReadonlySet<string> | undefined;

/** True if a lower-case word is a single token of the tokenizer. Such a word is spelt correctly. */
export function isCommonWord(word: string): boolean {
  words ??= readWords();
  return words.has(word);
}

/** Reads the words, which takes about 10 ms. Returns none if the package lacks the model. */
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
