import type { ErrorCode } from '../base/errors.ts';
import { errorAnswer, type Incoming, messageLimits, readMessageBytes } from '../mcp/messages/messages.ts';
import { rpcCodes } from '../mcp/wire-errors.ts';
import type { Welcome } from './frames.ts';

/** A client line without an answer. */
export interface Unanswered {
  /** The line. Undefined if it exceeded the limit and was not kept. */
  bytes: Buffer | undefined;
  /** True if the line was already sent to a second owner. */
  repeated: boolean;
}

/** Requests that change nothing. */
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
 * Decides whether to repeat a line after its owner died without answering. A call that may have changed something is never
 * repeated; the client gets an error that says that the outcome is unknown.
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
  // A repeated call would restart its progress, which must only increase.
  if (typeof meta === 'object' && meta !== null && 'progressToken' in meta) return false;
  return method === 'tools/call' ? readOnlyTools.includes(String(params?.['name'])) : reading.has(method);
}

const lostMessage =
  'The process that served this call exited before answering and was replaced. The call may or may not have been performed: check, then repeat it if needed. With the same idempotency_key it is safe to repeat right away.';
const lostData = { code: 'interrupted' satisfies ErrorCode, retryable: true };
