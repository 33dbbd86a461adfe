import { type Language, languages } from '../../../words/language.ts';

/**
 * Says by which analysis the stored terms were made. Raised whenever the code in src/words cuts or stems otherwise: a
 * database that was written by another is cut again when it is opened, because queries would not find its terms.
 */
const analysisVersion = 2;

export interface WordAnalysis {
  readonly language: Language;
  /** As it is stored. */
  readonly stamp: string;
}

/** What is to be: in the language that is asked for, or else in the one that the database has. */
export function analysisFor(stored: string | undefined, wanted: Language | undefined): WordAnalysis {
  const known = languages.find((language) => language === stored?.split(' ')[1]);
  const language = wanted ?? known ?? 'english';
  return { language, stamp: `${analysisVersion} ${language}` };
}

/** Tables that have rows before anything is stored. */
export function isFilledFromTheStart(table: string): boolean {
  return table === 'word_analysis' || /_(?:statistics|settings)$/.test(table);
}
