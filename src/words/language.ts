import { irregularEnglish } from './irregular-english.ts';
import { stemEnglish } from './stem-english.ts';

/** The languages of PostgreSQL's text search. Words of `simple`, Basque, Catalan and Yiddish are not stemmed. */
export const languages = [
  ...['arabic', 'armenian', 'basque', 'catalan', 'danish', 'dutch', 'english', 'finnish', 'french', 'german'],
  ...['greek', 'hindi', 'hungarian', 'indonesian', 'irish', 'italian', 'lithuanian', 'nepali', 'norwegian'],
  ...['portuguese', 'romanian', 'russian', 'serbian', 'simple', 'spanish', 'swedish', 'tamil', 'turkish', 'yiddish'],
] as const;
export type Language = (typeof languages)[number];

/** Returns the common stem of a word's forms. The word must be lower case. */
type Stemmer = (word: string) => string;

interface Stemming {
  readonly language: Language;
  readonly stem: Stemmer;
}

const english: Stemming = { language: 'english', stem: (word) => stemEnglish(irregularEnglish.get(word) ?? word) };

/** The stemmer of this thread. It must be set before the first text is tokenised: a database uses one stemmer. */
let current: Stemming = english;

export function currentLanguage(): Language {
  return current.language;
}

export async function useLanguage(language: Language): Promise<void> {
  if (language === current.language) return;
  const module = await loaders[language]?.();
  if (language === 'english') current = english;
  else current = { language, stem: module?.stemmer ?? ((word) => word) };
  stems.clear();
}

const loaders: Partial<Record<Language, () => Promise<{ stemmer: Stemmer }>>> = {
  arabic: () => import('@orama/stemmers/arabic'),
  armenian: () => import('@orama/stemmers/armenian'),
  danish: () => import('@orama/stemmers/danish'),
  dutch: () => import('@orama/stemmers/dutch'),
  finnish: () => import('@orama/stemmers/finnish'),
  french: () => import('@orama/stemmers/french'),
  german: () => import('@orama/stemmers/german'),
  greek: () => import('@orama/stemmers/greek'),
  hindi: () => import('@orama/stemmers/indian'),
  hungarian: () => import('@orama/stemmers/hungarian'),
  indonesian: () => import('@orama/stemmers/indonesian'),
  irish: () => import('@orama/stemmers/irish'),
  italian: () => import('@orama/stemmers/italian'),
  lithuanian: () => import('@orama/stemmers/lithuanian'),
  nepali: () => import('@orama/stemmers/nepali'),
  norwegian: () => import('@orama/stemmers/norwegian'),
  portuguese: () => import('@orama/stemmers/portuguese'),
  romanian: () => import('@orama/stemmers/romanian'),
  russian: () => import('@orama/stemmers/russian'),
  serbian: () => import('@orama/stemmers/serbian'),
  spanish: () => import('@orama/stemmers/spanish'),
  swedish: () => import('@orama/stemmers/swedish'),
  tamil: () => import('@orama/stemmers/tamil'),
  turkish: () => import('@orama/stemmers/turkish'),
};

const stems = new Map<string, string>();
const stemsMax = 50_000;
const englishWord = /^[a-z]{3,}$/;
const word = /^[\p{L}\p{M}]{3,}$/u;

/** Returns the stem of a lower-case word, folded or not. Terms with anything but letters do not change. */
export function stemOf(term: string): string {
  const cached = stems.get(term);
  if (cached !== undefined) return cached;
  const isWord = (current === english ? englishWord : word).test(term);
  // A stemmer may reduce a short word to an empty string.
  const stem = (isWord && current.stem(term)) || term;
  if (stems.size >= stemsMax) stems.clear();
  stems.set(term, stem);
  return stem;
}
