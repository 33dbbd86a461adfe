import { CarrelError } from '../base/errors.ts';

/** A form for the user: a text, and fields that must all be filled in. */
export interface Question {
  message: string;
  fields: Readonly<Record<string, QuestionField>>;
  /** A hash of what is asked about. Nobody is shown it; an answer is good only for the same. */
  about?: string;
}

export interface QuestionField {
  type: 'boolean' | 'string';
  title: string;
}

export type Questions = Readonly<Record<string, Question>>;

/** What was filled in, by question and field; every value has the type that was asked for. */
export type Answers = Readonly<Record<string, Readonly<Record<string, boolean | string>>>>;

/** How many ids a call may name without the user being asked. Whatever a filter chooses is asked about. */
export const unaskedIdsMax = 10;

const samplesMax = 3;
const sampleUnitsMax = 60;

/** Whether so many things are to be removed, some of them by name. The names may come from outside: the text is for people. */
export function askToRemove(
  [one, many]: readonly [string, string],
  count: number | string,
  { samples, about }: { samples: readonly string[]; about: string },
): Questions {
  const what = count === 1 ? one : many;
  const shown = samples.slice(0, samplesMax).map(sampleLine);
  const more = shown.length === 0 ? '' : `, such as ${shown.map((sample) => `“${sample}”`).join(', ')}`;
  const message = `Delete ${count} ${what}${more}?`;
  return { confirm: { message, fields: { confirm: { type: 'boolean', title: `Delete ${count} ${what}` } }, about } };
}

/** What was asked, with what the user answered. */
export interface Asked {
  questions: Questions;
  answers: Answers;
}

/** What the user agreed to remove, as `askToRemove` got it: undefined if nobody could be asked. A no is thrown. */
export function agreedTo(asked: Asked | undefined): string | undefined {
  if (asked === undefined) return undefined;
  if (asked.answers['confirm']?.['confirm'] === true) return asked.questions['confirm']?.about;
  throw new CarrelError('not_confirmed', 'The user did not agree. Nothing was deleted.');
}

function sampleLine(text: string): string {
  const line = text.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim();
  return line.length > sampleUnitsMax ? `${line.slice(0, sampleUnitsMax).toWellFormed()}…` : line;
}
