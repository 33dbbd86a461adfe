import type { ErrorCode } from '../base/errors.ts';
import { errorAnswer, type Incoming, messageLimits, readMessageBytes } from '../mcp/messages/messages.ts';
import { rpcCodes } from '../mcp/wire-errors.ts';
import type { Welcome } from './frames.ts';

/** A line of the client that has no answer. */
export interface Unanswered {
  /** Undefined: it was longer than a line may be, and was not kept. */
  bytes: Buffer | undefined;
  /** It was sent to a second owner already. */
  repeated: boolean;
}

/** Requests that change nothing, whatever they carry. */
const reading = new Set([
  'initialize',
  'ping',
  'server/discover',
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'tasks/get',
]);

/**
 * What to do with a line whose owner ended before it answered. A call that may have changed something is never sent
 * twice: nobody knows whether it was carried out, and the client is told so.
 */
export function whatToDo(
  { bytes, repeated }: Unanswered,
  { readOnlyTools }: Pick<Welcome, 'readOnlyTools'>,
): { repeat: boolean; answer?: object } {
  if (bytes === undefined) return { repeat: true };
  const read = readMessageBytes(bytes, { ...messageLimits, bytesMax: Number.POSITIVE_INFINITY });
  if (!read.ok) return { repeat: true };
  const requests = read.incoming.filter((item) => item.kind === 'request');
  if (!repeated && requests.every((request) => mayRepeat(request, readOnlyTools))) return { repeat: true };
  const answers = requests.map(({ id }) => errorAnswer(id, rpcCodes.application, lostMessage, lostData));
  if (answers.length === 0) return { repeat: !repeated };
  return { repeat: false, answer: read.batch ? answers : (answers[0] ?? {}) };
}

function mayRepeat({ method, params }: Incoming & { kind: 'request' }, readOnlyTools: readonly string[]): boolean {
  const meta = params?.['_meta'];
  // Progress would start again from the beginning, and it must only grow.
  if (typeof meta === 'object' && meta !== null && 'progressToken' in meta) return false;
  return method === 'tools/call' ? readOnlyTools.includes(String(params?.['name'])) : reading.has(method);
}

const lostMessage =
  'The process that served this call ended before it answered, and another has taken its place. It is not known whether the call was carried out: look, then send it again if needed. With the same idempotency_key, it can be sent again at once.';
const lostData = { code: 'interrupted' satisfies ErrorCode, retryable: true };
