import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { serveStdio as serveSdkStdio } from '@modelcontextprotocol/server/stdio';
import { isObject } from '../../base/json.ts';
import { errorAnswer, type Incoming } from '../messages/messages.ts';
import { isModernId } from '../messages/read-envelope.ts';
import { metaKeys, modernRevisions } from '../protocol-versions.ts';
import { idKey } from '../sessions/conversation.ts';
import type { DirectRequest, ModernProtocol } from '../sessions/modern-answers.ts';
import type { SubscriptionStream } from '../sessions/subscription-streams.ts';
import { rpcCodes } from '../wire-errors.ts';
import { type ClientLinesOptions, createIdleSignal, type Peer } from './peer.ts';

/** Serves a client whose messages name their revision. Uses the SDK, with Carrel's own transport. */
export function openModernPeer(options: ClientLinesOptions, modern: ModernProtocol): Peer {
  const { output, caller } = options;
  const idle = createIdleSignal();
  /** Unanswered lines by id; ids may repeat. */
  const unanswered = new Map<unknown, number[]>();
  const takeLine = (id: unknown): number | undefined => {
    const lines = unanswered.get(id);
    const line = lines?.shift();
    if (lines?.length === 0) unanswered.delete(id);
    return line;
  };
  const transport: Transport = {
    async start() {},
    async send(message) {
      if ('method' in message) output.write(message);
      else output.write(message, takeLine(message.id));
      idle.check();
    },
    async close() {
      transport.onclose?.();
    },
  };
  const service = serveSdkStdio(() => modern.serverFor(caller), {
    transport,
    legacy: 'reject',
    onerror: (error) => options.log.debug('protocol', { error }),
  });
  const answers = modern.answersFor(caller);
  /** True once the SDK has received a valid request, from which it learns the revision. Later requests may bypass it. */
  let isSdkReady = false;
  /** Requests answered without the SDK, by id. */
  const running = new Map<unknown, Set<AbortController>>();
  const answerOne = async (request: DirectRequest): Promise<void> => {
    const controller = new AbortController();
    const { value: id } = request.id;
    const sameId = running.get(id) ?? new Set();
    running.set(id, sameId.add(controller));
    const answer = await answers.answer(request, controller.signal, (message) => output.write(message));
    sameId.delete(controller);
    if (sameId.size === 0) running.delete(id);
    if (answer) await transport.send(answer as JSONRPCMessage);
  };
  /** Change streams by request key, with their lines. */
  const subscriptions = new Map<string, { line: number; opened: Promise<SubscriptionStream | undefined> }>();
  const drop = (key: string): boolean => {
    const entry = subscriptions.get(key);
    if (entry === undefined) return false;
    subscriptions.delete(key);
    output.noAnswer?.(entry.line);
    void entry.opened.then((stream) => stream?.drop());
    return true;
  };
  const openSubscription = ({ id, params = {} }: Incoming & { kind: 'request' }, line: number): void => {
    drop(id.key);
    const send = (message: object): void => output.write(message, 'result' in message ? line : undefined);
    const end = (): void => void subscriptions.delete(id.key);
    const opened = options.subscriptions.open({ id, params, caller, send, end }).then((outcome) => {
      if ('subscription' in outcome) return outcome.subscription;
      subscriptions.delete(id.key);
      output.write(outcome.refusal, line);
      return undefined;
    });
    subscriptions.set(id.key, { line, opened });
  };
  const receiveOne = (item: Incoming, message: JSONRPCMessage, line: number): void => {
    if (item.kind === 'invalid') {
      output.write(errorAnswer(item.id, item.code, item.problem), line);
      return;
    }
    // Requests with an invalid envelope go to the SDK, which reports the fault.
    if (item.kind === 'request' && item.method === 'subscriptions/listen' && hasEnvelope(item.params)) {
      openSubscription(item, line);
      return;
    }
    if (item.kind === 'request') {
      const { value: id } = item.id;
      if (!isModernId(id)) {
        const problem = 'Invalid request: id must be a string, or an integer of at most 2^53 - 1.';
        output.write(errorAnswer(item.id, rpcCodes.invalidRequest, problem), line);
        return;
      }
      const waiting = unanswered.get(id);
      if (waiting) waiting.push(line);
      else unanswered.set(id, [line]);
      const direct = answers.read(item);
      if (direct && isSdkReady) {
        answerOne(direct).catch((error: unknown) => options.log.debug('protocol', { error }));
        return;
      }
      isSdkReady ||= direct !== undefined;
    } else {
      const isCancel = item.kind === 'notification' && item.method === 'notifications/cancelled';
      const cancelled = isCancel ? takeLine(item.params?.['requestId']) : undefined;
      if (cancelled !== undefined) output.noAnswer?.(cancelled);
      if (isCancel) for (const controller of running.get(item.params?.['requestId']) ?? []) controller.abort();
      output.noAnswer?.(line);
      if (isCancel && drop(idKey(item.params?.['requestId']) ?? '')) return;
    }
    transport.onmessage?.(item.kind === 'response' ? message : withoutExtraMembers(message));
  };
  return {
    receive(incoming, batch, parsed, line) {
      if (batch) {
        const problem = 'Invalid request: this protocol revision has no batches.';
        output.write(errorAnswer(null, rpcCodes.invalidRequest, problem), line);
        return;
      }
      for (const item of incoming) receiveOne(item, parsed as JSONRPCMessage, line);
    },
    drain: (ms) => idle.wait(() => unanswered.size === 0, ms),
    async close() {
      options.subscriptions.close();
      for (const controller of [...running.values()].flatMap((each) => [...each])) controller.abort();
      await service.close();
    },
  };
}

function hasEnvelope(params: Record<string, unknown> | undefined): boolean {
  const meta = params?.['_meta'];
  if (!isObject(meta) || !isObject(meta[metaKeys.capabilities])) return false;
  return (modernRevisions as readonly unknown[]).includes(meta[metaKeys.revision]);
}

const messageMembers = new Set(['jsonrpc', 'id', 'method', 'params']);

/** Removes extra members: the SDK ignores requests that have any, and their sender would wait forever. */
function withoutExtraMembers(message: JSONRPCMessage): JSONRPCMessage {
  const fields = Object.entries(message).filter(([name]) => messageMembers.has(name));
  return Object.fromEntries(fields) as JSONRPCMessage;
}
