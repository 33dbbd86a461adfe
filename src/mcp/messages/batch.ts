import { wireBytes } from '../../base/wire-bytes.ts';
import type { Sink } from '../sessions/conversation.ts';
import { rpcCodes } from '../wire-errors.ts';
import type { Incoming, MessageLimits } from './messages.ts';

/** Rejects `initialize` in a batch: no other message may be sent before the handshake is complete. */
export function refuseInitialize(item: Incoming): Incoming {
  if (item.kind !== 'request' || item.method !== 'initialize') return item;
  const problem = 'Invalid request: initialize must not be part of a batch.';
  return { kind: 'invalid', id: item.id, code: rpcCodes.invalidRequest, problem };
}

/**
 * Collects the answers of a batch and delivers them together. Replaces answers that would exceed the size limit with errors.
 * Calls `done` at the end, even if all requests were cancelled and there is nothing to deliver.
 */
export function gatherAnswers(
  incoming: readonly Incoming[],
  { answerBytesMax }: Pick<MessageLimits, 'answerBytesMax'>,
  deliver: (answers: object[]) => void,
  { send }: Pick<Sink, 'send'>,
  done: () => void = () => {},
): Sink {
  const answers: object[] = [];
  let bytes = 0;
  let unanswered = incoming.filter(({ kind }) => kind === 'request' || kind === 'invalid').length;
  const countAnswer = (): void => {
    unanswered -= 1;
    if (unanswered > 0) return;
    if (answers.length > 0) deliver(answers);
    done();
  };
  return {
    answer(message) {
      const size = wireBytes(message, 1, answerBytesMax);
      const fits = bytes + size <= answerBytesMax - refusalBytes * answers.length;
      if (fits) bytes += size;
      answers.push(fits ? message : tooLong(message, answerBytesMax));
      countAnswer();
    },
    send,
    dropped: countAnswer,
  };
}

/** Estimated size of the error that replaces an answer. */
const refusalBytes = 512;

function tooLong(answer: object, bytesMax: number): object {
  const message = `The answers to this batch exceed ${bytesMax} bytes. Send this request again, alone.`;
  const id = 'id' in answer ? answer.id : null;
  return {
    jsonrpc: '2.0',
    id,
    error: { code: rpcCodes.application, message, data: { code: 'answer_too_large', bytesMax } },
  };
}
