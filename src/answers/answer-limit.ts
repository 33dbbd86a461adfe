import { CarrelError } from '../base/errors.ts';
import { type Copies, wireBytes } from '../base/wire-bytes.ts';
import type { Call } from '../tools/call.ts';

/** Default of ANSWER_MAX_BYTES, the max bytes per answer as sent. */
export const answerBytesDefault = 4 * 1024 * 1024;

/** Bytes per answer reserved for the protocol's own fields. */
export const envelopeBytes = 2_048;

/** Share of the answer reserved for fields other than list items, and its max bytes. */
const reservedShare = 0.25;
const reservedBytesMax = 256 * 1024;

/** Returns the max bytes for list items in this call's answer. */
export function itemBytesMax({ answerBytesMax = answerBytesDefault }: Pick<Call, 'answerBytesMax'>): number {
  return answerBytesMax - Math.min(reservedBytesMax, Math.floor(answerBytesMax * reservedShare));
}

/** Returns the first items that fit into `bytesMax`. */
export function fitItems<Item>(items: readonly Item[], bytesMax: number): Item[] {
  let used = 0;
  const firstOmitted = items.findIndex((item) => {
    used += wireBytes(item, 2, bytesMax - used);
    return used > bytesMax;
  });
  return firstOmitted === -1 ? [...items] : items.slice(0, firstOmitted);
}

/** Throws if an answer is too large. Most tools shorten their answers, so this rarely happens. */
export function checkAnswer<Answer>(answer: Answer, bytesMax: number, { copies, done }: AnswerKind): Answer {
  if (wireBytes(answer, copies, bytesMax) <= bytesMax) return answer;
  const subject = done ? 'The call succeeded, but its' : 'The';
  throw new CarrelError(
    'answer_too_large',
    `${subject} answer exceeds the limit of ${bytesMax} bytes. Ask for less at a time: a smaller limit, fewer ids or a shorter range.`,
    { data: { bytesMax } },
  );
}

interface AnswerKind {
  /** How often the answer contains the data. Tool results contain it twice: as an object and as text. */
  readonly copies: Copies;
  /** True if the call has changed data; the error then says so. */
  readonly done?: boolean;
}
