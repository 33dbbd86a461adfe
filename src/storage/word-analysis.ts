import { type Language, languages } from '../words/language.ts';
import type { IndexedTexts } from '../words/ranking/word-index.ts';
import { corpora } from './contracts/passages.ts';

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

/** Where the texts of each word index are. */
export interface WordIndexSource {
  /** The prefix of the index's tables. */
  readonly name: string;
  readonly owner: string;
  textsOf(row: Readonly<Record<string, unknown>>): IndexedTexts;
}

export const wordIndexSources: readonly WordIndexSource[] = [
  {
    name: 'note',
    owner: 'notes',
    textsOf: (row) => ({ title: text(row, 'title'), heading: lines(row, 'tags', true), body: text(row, 'content') }),
  },
  {
    name: 'context_entry',
    owner: 'context_entries',
    textsOf: (row) => ({ title: '', heading: '', body: text(row, 'text_content') }),
  },
  ...corpora.map((corpus) => ({
    name: `${corpus}_passage`,
    owner: `${corpus}_passages`,
    textsOf: (row: Readonly<Record<string, unknown>>) => ({
      title: text(row, 'title'),
      heading: lines(row, 'headings', false),
      body: text(row, 'body'),
    }),
  })),
];

/** Documents that are cut again at once. */
export const rewrittenAtOnce = 500;

/** Tables that have rows before anything is stored. */
export function isFilledFromTheStart(table: string): boolean {
  return table === 'word_analysis' || /_(?:statistics|settings)$/.test(table);
}

function text(row: Readonly<Record<string, unknown>>, column: string): string {
  const value = row[column];
  return typeof value === 'string' ? value : '';
}

/** A list, which SQLite keeps as JSON. */
function lines(row: Readonly<Record<string, unknown>>, column: string, distinct: boolean): string {
  const value = row[column];
  const list: unknown = typeof value === 'string' ? JSON.parse(value) : value;
  const all = Array.isArray(list) ? list.filter((each) => typeof each === 'string') : [];
  return (distinct ? [...new Set(all)] : all).join('\n');
}
