import { CarrelError } from '../base/errors.ts';
import { type Copies, wireBytes } from '../base/wire-bytes.ts';
import type { Call } from '../tools/call.ts';

/** Default max bytes per answer on the wire (ANSWER_MAX_BYTES). */
export const answerBytesDefault = 4 * 1024 * 1024;

/** Protocol overhead per answer. */
export const envelopeBytes = 2_048;

/** Share of the answer reserved for everything but list items: query, hints, omitted ids. */
const besideShare = 0.25;
const besideBytesMax = 256 * 1024;

/** Max bytes for list items in this call's answer. Tools stop there and report what they left out. */
export function itemBytesMax({ answerBytesMax = answerBytesDefault }: Pick<Call, 'answerBytesMax'>): number {
  return answerBytesMax - Math.min(besideBytesMax, Math.floor(answerBytesMax * besideShare));
}

/** The first items that fit into an answer. */
export function fitItems<Item>(items: readonly Item[], bytesMax: number): Item[] {
  let used = 0;
  const tooMany = items.findIndex((item) => {
    used += wireBytes(item, 2, bytesMax - used);
    return used > bytesMax;
  });
  return tooMany === -1 ? [...items] : items.slice(0, tooMany);
}

/** Final guard for answers that their tool did not shorten. */
export function checkAnswer<Answer>(answer: Answer, bytesMax: number, { copies, done }: AnswerKind): Answer {
  if (wireBytes(answer, copies, bytesMax) <= bytesMax) return answer;
  const carriedOut = done ? 'The call succeeded, but its' : 'The';
  throw new CarrelError(
    'answer_too_large',
    `${carriedOut} answer exceeds the limit of ${bytesMax} bytes. Ask for less at a time: a smaller limit, fewer ids or a shorter range.`,
    { data: { bytesMax } },
  );
}

export interface AnswerKind {
  /** How often the answer contains the data. Tool results contain it twice: as an object and as text. */
  readonly copies: Copies;
  /** True if the call has changed data; the error then says so. */
  readonly done?: boolean;
}
