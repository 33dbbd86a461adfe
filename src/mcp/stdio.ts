import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { serveStdio as serveSelfDescribing } from '@modelcontextprotocol/server/stdio';
import { isObject } from '../base/json.ts';
import type { Logger } from '../base/log.ts';
import type { Caller } from '../tools/call.ts';
import { gatherAnswers, refuseInitialize } from './batch.ts';
import { type Conversation, createConversation, idKey, type ProtocolServer } from './conversation.ts';
import { createLineReader } from './line-reader.ts';
import type { Listen, Listening } from './listen.ts';
import { errorAnswer, type Incoming, invalidRequest, type MessageLimits, readMessageBytes } from './messages.ts';
import type { DirectRequest, ModernAnswers } from './modern-answers.ts';
import { isModernId } from './plain-request.ts';
import {
  allowsBatches,
  carriesRevision,
  type Era,
  modernRevisions,
  type OfferedRevisions,
} from './protocol-versions.ts';

export interface ClientLinesOptions {
  output: LineOutput;
  limits: MessageLimits;
  revisions: OfferedRevisions;
  log: Logger;
  createServer(era: Era, conversation: Conversation | undefined): ProtocolServer;
  createModernAnswers(): ModernAnswers;
  caller: Caller;
  listen: Listen;
  /** How long requests may still be answered after the client has closed its end. */
  drainMs: number;
}

/** Where a client's lines are answered. Lines have numbers, so that whoever carries them knows which still wait. */
export interface LineOutput {
  /** Writes a message as a line; `answers` is the number of the line that it answers. */
  write(message: object, answers?: number): void;
  /** The line gets no answer: it asked for none, or was cancelled. */
  settle?(line: number): void;
  /** The line made the session what it is: whoever continues it elsewhere must begin with this line. */
  keep?(line: number): void;
  end(): Promise<void>;
}

/** What a client writes, line by line, and when it is served. */
export interface ClientLines {
  receive(bytes: Buffer, line: number): void;
  /** A line that exceeds the limit of bytes. */
  refuse(line: number): void;
  /** No more lines come: what still runs is answered, or aborted after a while. */
  finish(): Promise<void>;
  /** Nobody is left to answer. */
  abandon(): Promise<void>;
}

export interface StdioOptions extends Omit<ClientLinesOptions, 'output'> {
  input: Readable;
  output: Writable;
}

export interface StdioService {
  /** Settles when the client is gone and its requests are answered or aborted. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/** Serves one client on a pair of streams. */
export function serveStdio({ input, output, ...options }: StdioOptions): StdioService {
  const closed = Promise.withResolvers<void>();
  const lines = serveLines({ ...options, output: createLineWriter(output) });
  let count = 0;
  const reader = createLineReader(options.limits.bytesMax, {
    line: (bytes) => lines.receive(bytes, ++count),
    tooLong: () => lines.refuse(++count),
  });
  const finish = (): Promise<void> => lines.finish().then(closed.resolve);
  input.on('data', (chunk: Buffer) => reader.push(chunk));
  input.on('end', () => {
    reader.end();
    void finish();
  });
  input.on('error', (error) => {
    options.log.debug('stdin failed', { error });
    void finish();
  });
  // The client stopped reading (EPIPE).
  output.on('error', () => void lines.abandon().then(closed.resolve));
  return { closed: closed.promise, close: finish };
}

/**
 * Serves the lines of one client. The SDK's own transport drops pending answers when the input ends,
 * ignores batches and does not answer invalid JSON; this one answers all three.
 *
 * The first message decides the era: one that names its revision is served by the SDK's entry for such messages, anything
 * else by a conversation. A client that has only asked `server/discover` may still fall back to a handshake.
 */
export function serveLines(options: ClientLinesOptions): ClientLines {
  const { limits, output } = options;
  let peer: Peer | undefined;
  let probing = false;
  let probed: Promise<void> | undefined;
  let finished: Promise<void> | undefined;

  const choosePeer = (parsed: unknown, first: Incoming | undefined): Peer => {
    const selfDescribing = options.revisions.modern && carriesRevision(parsed);
    if (peer === undefined) {
      peer = selfDescribing ? createSelfDescribingPeer(options) : createPeer(options);
      probing = selfDescribing;
    }
    if (!probing || first?.kind !== 'request') return peer;
    if (selfDescribing) {
      probing = first.method === 'server/discover';
      return peer;
    }
    probing = false;
    probed = leave(peer);
    peer = createPeer(options);
    return peer;
  };

  const leave = async (left: Peer): Promise<void> => {
    await left.drain(options.drainMs);
    await left.close();
  };

  const finish = async (): Promise<void> => {
    await Promise.all([probed, peer && leave(peer)]);
    await output.end();
  };

  return {
    receive(bytes, line) {
      if (bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d)) {
        output.settle?.(line);
        return;
      }
      const outcome = readMessageBytes(bytes, limits);
      if (!outcome.ok) {
        output.write(errorAnswer(outcome.id, outcome.code, outcome.problem), line);
        return;
      }
      const { incoming, batch, parsed } = outcome;
      choosePeer(parsed, incoming[0]).receive(incoming, batch, parsed, line);
    },
    refuse(line) {
      const problem = `Invalid request: a message may have at most ${limits.bytesMax} bytes.`;
      output.write(errorAnswer(null, invalidRequest, problem), line);
    },
    finish() {
      finished ??= finish();
      return finished;
    },
    async abandon() {
      finished ??= Promise.resolve();
      await Promise.allSettled([peer?.close()]);
    },
  };
}

/** The other side of the streams, in one of the two eras. */
interface Peer {
  receive(incoming: Incoming[], batch: boolean, parsed: unknown, line: number): void;
  drain(ms: number): Promise<void>;
  close(): Promise<void>;
}

/** Requests that change what the session is: whoever has read a list is told when it changes, too. */
const lastingMethods: ReadonlySet<string> = new Set([
  'initialize',
  'resources/list',
  'resources/subscribe',
  'resources/unsubscribe',
]);

function createPeer(options: ClientLinesOptions): Peer {
  const { output, limits } = options;
  const idle = createIdleSignal();
  const tell = (message: object): void => output.write(message);
  const conversation = createConversation({ standalone: { tell } });
  const connected = conversation.connect(options.createServer('handshake', conversation));

  const receiveOne = (item: Incoming, line: number): void => {
    if (item.kind === 'notification' || item.kind === 'response') {
      void conversation.receive(item, { answer() {}, tell, dropped() {} });
      if (item.kind === 'notification' && item.method === 'notifications/initialized') output.keep?.(line);
      output.settle?.(line);
      return;
    }
    const lasts = item.kind === 'request' && lastingMethods.has(item.method);
    void conversation.receive(item, {
      answer(message) {
        if (lasts && 'result' in message) output.keep?.(line);
        output.write(message, line);
        idle.check();
      },
      tell,
      dropped() {
        output.settle?.(line);
        idle.check();
      },
    });
  };

  const receiveBatch = (incoming: Incoming[], line: number): void => {
    if (!allowsBatches(conversation.revision)) {
      const problem = 'Invalid request: this protocol revision has no batches.';
      output.write(errorAnswer(null, invalidRequest, problem), line);
      return;
    }
    const settled = (): void => {
      output.settle?.(line);
      idle.check();
    };
    const gathered = gatherAnswers(incoming, limits, (answers) => output.write(answers, line), { tell }, settled);
    for (const item of incoming) void conversation.receive(refuseInitialize(item), gathered);
    if (incoming.every(({ kind }) => kind === 'notification' || kind === 'response')) settled();
  };

  return {
    receive(incoming, batch, _parsed, line) {
      void connected.then(() => {
        if (batch) receiveBatch(incoming, line);
        else for (const item of incoming) receiveOne(item, line);
      });
    },
    async drain(ms) {
      await connected;
      await idle.wait(() => conversation.pending === 0, ms);
    },
    close: () => conversation.close(),
  };
}

/** A peer whose messages name their revision: the SDK's entry serves it, over our wire. */
function createSelfDescribingPeer(options: ClientLinesOptions): Peer {
  const { output } = options;
  const idle = createIdleSignal();
  /** The lines that wait for an answer, by id; two may have the same. */
  const unanswered = new Map<unknown, number[]>();
  const takeLine = (id: unknown): number | undefined => {
    const lines = unanswered.get(id);
    const line = lines?.shift();
    if (lines?.length === 0) unanswered.delete(id);
    return line;
  };
  const wire: Transport = {
    async start() {},
    async send(message) {
      if ('method' in message) output.write(message);
      else output.write(message, takeLine(message.id));
      idle.check();
    },
    async close() {
      wire.onclose?.();
    },
  };
  const service = serveSelfDescribing(() => options.createServer('modern', undefined).sdk, {
    transport: wire,
    legacy: 'reject',
    onerror: (error) => options.log.debug('protocol', { error }),
  });
  const answers = options.createModernAnswers();
  /** Whether the SDK has had a request by which it knows the revision: what it says of others depends on that. */
  let opened = false;
  /** Requests that went past the SDK, by id. */
  const running = new Map<unknown, Set<AbortController>>();
  const answerDirectly = async (request: DirectRequest): Promise<void> => {
    const controller = new AbortController();
    const { id } = request;
    const sameId = running.get(id) ?? new Set();
    running.set(id, sameId.add(controller));
    const answer = await answers.answer(request, controller.signal, (message) => {
      if (!controller.signal.aborted) output.write(message);
    });
    sameId.delete(controller);
    if (sameId.size === 0) running.delete(id);
    if (!controller.signal.aborted) await wire.send(answer as JSONRPCMessage);
  };
  /** Streams that tell of changes, by the keys of their ids, with their lines. */
  const listening = new Map<string, { line: number; opened: Promise<Listening | undefined> }>();
  const drop = (key: string): boolean => {
    const dropped = listening.get(key);
    if (dropped === undefined) return false;
    listening.delete(key);
    output.settle?.(dropped.line);
    void dropped.opened.then((stream) => stream?.drop());
    return true;
  };
  const openListen = ({ id, params = {} }: Incoming & { kind: 'request' }, line: number): void => {
    drop(id.key);
    const send = (message: object): void => output.write(message, 'result' in message ? line : undefined);
    const end = (): void => void listening.delete(id.key);
    const opened = options.listen.open({ id, params, caller: options.caller, send, end }).then((outcome) => {
      if ('listening' in outcome) return outcome.listening;
      listening.delete(id.key);
      output.write(outcome.refusal, line);
      return undefined;
    });
    listening.set(id.key, { line, opened });
  };
  const receiveOne = (item: Incoming, message: JSONRPCMessage, line: number): void => {
    if (item.kind === 'invalid') {
      output.write(errorAnswer(item.id, item.code, item.problem), line);
      return;
    }
    // What is wrong with its envelope is for the SDK to say.
    if (item.kind === 'request' && item.method === 'subscriptions/listen' && hasEnvelope(item.params)) {
      openListen(item, line);
      return;
    }
    if (item.kind === 'request') {
      const { value: id } = item.id;
      if (!isModernId(id)) {
        const problem = 'Invalid request: id must be a string, or an integer of at most 2^53 - 1.';
        output.write(errorAnswer(item.id, invalidRequest, problem), line);
        return;
      }
      const waiting = unanswered.get(id);
      if (waiting) waiting.push(line);
      else unanswered.set(id, [line]);
      const direct = answers.read(item);
      if (direct && opened) {
        answerDirectly(direct).catch((error: unknown) => options.log.debug('protocol', { error }));
        return;
      }
      opened ||= direct !== undefined;
    } else {
      const isCancel = item.kind === 'notification' && item.method === 'notifications/cancelled';
      const cancelled = isCancel ? takeLine(item.params?.['requestId']) : undefined;
      if (cancelled !== undefined) output.settle?.(cancelled);
      if (isCancel) for (const controller of running.get(item.params?.['requestId']) ?? []) controller.abort();
      output.settle?.(line);
      if (isCancel && drop(idKey(item.params?.['requestId']) ?? '')) return;
    }
    wire.onmessage?.(item.kind === 'response' ? message : withoutOthers(message));
  };
  return {
    receive(incoming, batch, parsed, line) {
      if (batch) {
        const problem = 'Invalid request: this protocol revision has no batches.';
        output.write(errorAnswer(null, invalidRequest, problem), line);
        return;
      }
      for (const item of incoming) receiveOne(item, parsed as JSONRPCMessage, line);
    },
    drain: (ms) => idle.wait(() => unanswered.size === 0, ms),
    async close() {
      options.listen.close();
      for (const controller of [...running.values()].flatMap((each) => [...each])) controller.abort();
      await service.close();
    },
  };
}

function hasEnvelope(params: Record<string, unknown> | undefined): boolean {
  const meta = params?.['_meta'];
  if (!isObject(meta) || !isObject(meta['io.modelcontextprotocol/clientCapabilities'])) return false;
  return (modernRevisions as readonly unknown[]).includes(meta['io.modelcontextprotocol/protocolVersion']);
}

const members = new Set(['jsonrpc', 'id', 'method', 'params']);

/** The SDK drops a request that has other members than JSON-RPC's, and its sender would wait for ever. */
function withoutOthers(message: JSONRPCMessage): JSONRPCMessage {
  const own = Object.entries(message).filter(([name]) => members.has(name));
  return Object.fromEntries(own) as JSONRPCMessage;
}

/** Messages of one turn of the event loop leave in one write. */
function createLineWriter(output: Writable): LineOutput {
  let buffer = '';
  const flush = (): void => {
    const text = buffer;
    buffer = '';
    if (text !== '' && !output.destroyed) output.write(text);
  };
  return {
    write(message) {
      if (buffer === '') setImmediate(flush);
      buffer += `${JSON.stringify(message)}\n`;
    },
    end() {
      flush();
      return new Promise((resolve) => {
        if (output.destroyed) resolve();
        else output.write('', () => resolve());
      });
    },
  };
}

function createIdleSignal() {
  const waiting = new Set<() => void>();
  return {
    check(): void {
      for (const look of waiting) look();
    },
    wait(isIdle: () => boolean, ms: number): Promise<void> {
      return new Promise((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          waiting.delete(look);
          resolve();
        };
        const look = (): void => {
          if (isIdle()) done();
        };
        const timer = setTimeout(done, ms);
        waiting.add(look);
        look();
      });
    },
  };
}
