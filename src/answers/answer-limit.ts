import { CarrelError } from '../base/errors.ts';
import { type Copies, wireBytes } from '../base/wire-bytes.ts';
import type { Call } from '../tools/call.ts';

/** The longest answer in bytes, as it is on the wire, unless the operator sets another (ANSWER_MAX_BYTES). */
export const answerBytesDefault = 4 * 1024 * 1024;

/** What the protocol puts around an answer. */
export const envelopeBytes = 2_048;

/** Of the longest answer, for what stands beside the items of a list: the query, hints, the ids of what was left out. */
const besideShare = 0.25;
const besideBytesMax = 256 * 1024;

/** Bytes for the items of this call's answer. A tool that returns lists stops there and tells what it left out. */
export function answerRoom({ answerBytesMax = answerBytesDefault }: Pick<Call, 'answerBytesMax'>): number {
  return answerBytesMax - Math.min(besideBytesMax, Math.floor(answerBytesMax * besideShare));
}

/** The first items that fit into an answer. */
export function fitItems<Item>(items: readonly Item[], room: number): Item[] {
  let used = 0;
  const tooMany = items.findIndex((item) => {
    used += wireBytes(item, 2, room - used);
    return used > room;
  });
  return tooMany === -1 ? [...items] : items.slice(0, tooMany);
}

/** The last guard, for answers that their tool did not shorten. */
export function checkAnswer<Answer>(answer: Answer, bytesMax: number, { copies, done }: AnswerKind): Answer {
  if (wireBytes(answer, copies, bytesMax) <= bytesMax) return answer;
  const carriedOut = done ? 'It was carried out, but its' : 'The';
  throw new CarrelError(
    'answer_too_large',
    `${carriedOut} answer has more than ${bytesMax} bytes, the limit. Ask for less at a time: a smaller limit, fewer ids or a shorter range.`,
    { data: { bytesMax } },
  );
}

export interface AnswerKind {
  /** A tool's data is in its answer as an object and, once more, as text. */
  readonly copies: Copies;
  /** Something was changed, which the caller must know. */
  readonly done?: boolean;
}
