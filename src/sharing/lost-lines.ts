import type { ErrorCode } from '../base/errors.ts';
import { errorAnswer, type Incoming, messageLimits, readMessageBytes } from '../mcp/messages/messages.ts';
import { rpcCodes } from '../mcp/wire-errors.ts';
import type { Welcome } from './frames.ts';

/** A client line without an answer. */
export interface Unanswered {
  /** Undefined if the line exceeded the limit and was discarded. */
  bytes: Buffer | undefined;
  /** True if the line was already sent to a second owner. */
  repeated: boolean;
}

/** Requests that change nothing. */
const readOnlyMethods = new Set([
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
 * repeated. The client gets an error instead, which says that the outcome is unknown.
 */
export function recoverLine(
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
  return method === 'tools/call' ? readOnlyTools.includes(String(params?.['name'])) : readOnlyMethods.has(method);
}

const lostMessage =
  'The process that served this call exited before answering and was replaced. The call may or may not have been performed: check, then repeat it if needed. With the same idempotency_key it is safe to repeat right away.';
const lostData = { code: 'interrupted' satisfies ErrorCode, retryable: true };

/** Stores the lines from which another owner can restore a session: the last line per method and URI. */
export function createSessionLines() {
  const lines = new Map<string, Buffer>();
  return {
    add(bytes: Buffer): void {
      const read = readMessageBytes(bytes, { ...messageLimits, bytesMax: Number.POSITIVE_INFINITY });
      const [first] = read.ok ? read.incoming : [];
      if (first === undefined || !('method' in first)) return;
      const uri = String(first.params?.['uri'] ?? '');
      if (first.method === 'resources/unsubscribe') lines.delete(`resources/subscribe ${uri}`);
      // The bytes are copied, because the line may be part of a much larger buffer.
      else lines.set(`${first.method} ${uri}`, Buffer.from(bytes));
    },
    all: (): Iterable<Buffer> => lines.values(),
  };
}
