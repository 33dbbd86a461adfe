/** A form for the user: a text, and fields that must all be filled in. */
export interface Question {
  message: string;
  fields: Readonly<Record<string, QuestionField>>;
}

export interface QuestionField {
  type: 'boolean' | 'string';
  title: string;
}

export type Questions = Readonly<Record<string, Question>>;

/** What was filled in, by question and field; every value has the type that was asked for. */
export type Answers = Readonly<Record<string, Readonly<Record<string, boolean | string>>>>;
