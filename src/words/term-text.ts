import { analyse } from './analyse.ts';

/**
 * The analysed terms of one field as the databases store them: ` term term term `, with a space at both ends, so that a
 * term, a beginning and a phrase are found by searching for a substring. Empty when there are none.
 */
export interface TermText {
  readonly main: string;
  readonly extra: string;
  /** Number of terms in `main`. */
  readonly length: number;
}

export function termText(text: string): TermText {
  const main: string[] = [];
  const extra: string[] = [];
  analyse(text, (term, _start, _end, isExtra) => (isExtra ? extra : main).push(term));
  return { main: joined(main), extra: joined(extra), length: main.length };
}

function joined(terms: readonly string[]): string {
  return terms.length === 0 ? '' : ` ${terms.join(' ')} `;
}
