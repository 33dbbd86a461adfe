import { analyse } from './analyse.ts';

/**
 * The terms of one field, in the form ` term term term `, so that terms, prefixes and phrases are found as substrings. An
 * empty string if there are none.
 */
export interface TermText {
  readonly main: string;
  /** Other forms of the words, such as stems and parts of names; see `analyse`. */
  readonly extra: string;
  /** Number of terms in `main`. */
  readonly length: number;
}

/** The terms of a document, by field. */
export interface DocumentTerms {
  readonly title: TermText;
  readonly heading: TermText;
  readonly body: TermText;
}

export function termText(text: string): TermText {
  const [main, extra] = [[] as string[], [] as string[]];
  analyse(text, (term, _start, _end, isExtra) => (isExtra ? extra : main).push(term));
  const joined = (terms: readonly string[]) => (terms.length === 0 ? '' : ` ${terms.join(' ')} `);
  return { main: joined(main), extra: joined(extra), length: main.length };
}

/** Tokenises the fields of a document. If a chat message has no title, its speaker's name ("Ann: I went") counts as one. */
export function documentTermsOf({ title, heading, body }: Record<keyof DocumentTerms, string>): DocumentTerms {
  return { title: termText(title || speakerOf(body)), heading: termText(heading), body: termText(body) };
}

/** Matches a speaker: one to three capitalised words and a colon. Lower-case words before a colon are not a name. */
const speaker = /^(\p{Lu}[\p{L}\p{M}\p{N}.'’-]{0,30}(?: \p{Lu}[\p{L}\p{M}\p{N}.'’-]{0,30}){0,2}): \S/u;

function speakerOf(body: string): string {
  return speaker.exec(body)?.[1] ?? '';
}
