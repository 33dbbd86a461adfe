import { CarrelError } from '../base/errors.ts';

/** A form for the user: a message, and fields that are all required. */
export interface Question {
  message: string;
  fields: Readonly<Record<string, QuestionField>>;
  /**
   * A hash of what the question is about, such as the entries to delete; hidden from the user. An answer only counts
   * if the hash is still the same.
   */
  about?: string;
}

interface QuestionField {
  type: 'boolean' | 'string';
  title: string;
}

export type Questions = Readonly<Record<string, Question>>;

/** Values by question and field, with the requested types. */
export type Answers = Readonly<Record<string, Readonly<Record<string, boolean | string>>>>;

/** Max ids that a call may delete without asking the user. Deleting by filter always asks. */
export const unconfirmedIdsMax = 10;

const samplesMax = 3;
const sampleUnitsMax = 60;

/**
 * Creates the question that confirms a deletion, with a few sample names. Names are untrusted, so the message is for
 * people, not for models.
 */
export function askToRemove(
  [one, many]: readonly [string, string],
  count: number | string,
  { samples, about }: { samples: readonly string[]; about: string },
): Questions {
  const title = `Delete ${count} ${count === 1 ? one : many}`;
  const names = samples.slice(0, samplesMax).map((sample) => `“${sampleLine(sample)}”`);
  const message = `${title}${names.length === 0 ? '' : `, such as ${names.join(', ')}`}?`;
  return { confirm: { message, fields: { confirm: { type: 'boolean', title } }, about } };
}

/** Questions with the user's answers. */
export interface AnsweredQuestions {
  questions: Questions;
  answers: Answers;
}

/**
 * Returns the `about` of the confirmed question, or undefined if nobody could be asked. Throws if the user declined.
 */
export function requireConfirmation(answered: AnsweredQuestions | undefined): string | undefined {
  if (answered === undefined) return undefined;
  if (answered.answers['confirm']?.['confirm'] === true) return answered.questions['confirm']?.about;
  throw new CarrelError('not_confirmed', 'The user declined. Nothing was deleted.');
}

function sampleLine(text: string): string {
  const line = text.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim();
  return line.length > sampleUnitsMax ? `${line.slice(0, sampleUnitsMax).toWellFormed()}…` : line;
}
