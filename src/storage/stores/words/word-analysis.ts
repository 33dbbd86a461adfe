import { type Language, languages } from '../../../words/language.ts';

/**
 * Which analysis made the stored terms. Raised whenever the code in src/words tokenises or stems differently: a
 * database written by another is tokenised again when it is opened, because queries would not find its terms.
 */
const analysisVersion = 2;

export interface WordAnalysis {
  readonly language: Language;
  /** As it is stored. */
  readonly stamp: string;
}

/** The analysis to use: in the requested language, or in that of the database. */
export function analysisFor(stored: string | undefined, wanted: Language | undefined): WordAnalysis {
  const known = languages.find((language) => language === stored?.split(' ')[1]);
  const language = wanted ?? known ?? 'english';
  return { language, stamp: `${analysisVersion} ${language}` };
}

/** Tables that have rows before anything is stored. */
export function isFilledFromTheStart(table: string): boolean {
  return table === 'word_analysis' || /_(?:statistics|settings)$/.test(table);
}
