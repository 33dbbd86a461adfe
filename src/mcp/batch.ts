import type { Sink } from './conversation.ts';
import { type Incoming, invalidRequest } from './messages.ts';

/** The handshake must stand alone: a batch could otherwise carry calls past it. */
export function refuseInitialize(item: Incoming): Incoming {
  if (item.kind !== 'request' || item.method !== 'initialize') return item;
  const problem = 'Invalid request: initialize must not be part of a batch.';
  return { kind: 'invalid', id: item.id, code: invalidRequest, problem };
}

/**
 * Collects the answers to a batch and delivers them together when the last has arrived. A batch whose requests were all
 * cancelled is `settled` with nothing to deliver.
 */
export function gatherAnswers(
  incoming: readonly Incoming[],
  deliver: (answers: object[]) => void,
  { tell }: Pick<Sink, 'tell'>,
  settled: () => void,
): Sink {
  const answers: object[] = [];
  let missing = incoming.filter(({ kind }) => kind === 'request' || kind === 'invalid').length;
  const settle = (): void => {
    missing -= 1;
    if (missing > 0) return;
    if (answers.length > 0) deliver(answers);
    settled();
  };
  return {
    answer(message) {
      answers.push(message);
      settle();
    },
    tell,
    dropped: settle,
  };
}
