import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage, Server, Transport } from '@modelcontextprotocol/server';
import { serveStdio as serveSelfDescribing } from '@modelcontextprotocol/server/stdio';
import { isObject } from '../base/json.ts';
import type { Logger } from '../base/log.ts';
import type { Caller } from '../tools/call.ts';
import { gatherAnswers, refuseInitialize } from './batch.ts';
import { type Conversation, createConversation, idKey, type Sink } from './conversation.ts';
import { createLineReader } from './line-reader.ts';
import type { Listen, Listening } from './listen.ts';
import { errorAnswer, type Incoming, invalidRequest, type MessageLimits, readMessageBytes } from './messages.ts';
import {
  allowsBatches,
  carriesRevision,
  type Era,
  modernRevisions,
  type OfferedRevisions,
} from './protocol-versions.ts';

export interface StdioOptions {
  input: Readable;
  output: Writable;
  limits: MessageLimits;
  revisions: OfferedRevisions;
  log: Logger;
  createServer(era: Era, conversation: Conversation | undefined): Server;
  caller: Caller;
  listen: Listen;
  /** How long requests may still be answered after the client has closed its end. */
  drainMs: number;
}

export interface StdioService {
  /** Settles when the client is gone and its requests are answered or aborted. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/**
 * Serves one client on a pair of streams. The SDK's own transport drops pending answers when the input ends,
 * ignores batches and does not answer invalid JSON; this one answers all three.
 *
 * The first message decides the era: one that names its revision is served by the SDK's entry for such messages, anything
 * else by a conversation. A client that has only asked `server/discover` may still fall back to a handshake.
 */
export function serveStdio(options: StdioOptions): StdioService {
  const { input, limits, log } = options;
  const writer = createLineWriter(options.output);
  const closed = Promise.withResolvers<void>();
  let peer: Peer | undefined;
  let probing = false;
  let probed: Promise<void> | undefined;
  let ended = false;

  const onLine = (bytes: Buffer): void => {
    if (bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d)) return;
    const outcome = readMessageBytes(bytes, limits);
    if (!outcome.ok) {
      writer.write(errorAnswer(outcome.id, outcome.code, outcome.problem));
      return;
    }
    const { incoming, batch, parsed } = outcome;
    choosePeer(parsed, incoming[0]).receive(incoming, batch, parsed);
  };

  const choosePeer = (parsed: unknown, first: Incoming | undefined): Peer => {
    const selfDescribing = options.revisions.modern && carriesRevision(parsed);
    if (peer === undefined) {
      peer = selfDescribing ? createSelfDescribingPeer(options, writer) : createPeer(options, writer);
      probing = selfDescribing;
    }
    if (!probing || first?.kind !== 'request') return peer;
    if (selfDescribing) {
      probing = first.method === 'server/discover';
      return peer;
    }
    probing = false;
    probed = leave(peer);
    peer = createPeer(options, writer);
    return peer;
  };

  const leave = async (left: Peer): Promise<void> => {
    await left.drain(options.drainMs);
    await left.close();
  };

  const finish = async (): Promise<void> => {
    if (ended) return;
    ended = true;
    await Promise.all([probed, peer && leave(peer)]);
    await writer.end();
    closed.resolve();
  };

  const reader = createLineReader(limits.bytesMax, {
    line: onLine,
    tooLong: () =>
      writer.write(
        errorAnswer(null, invalidRequest, `Invalid request: a message may have at most ${limits.bytesMax} bytes.`),
      ),
  });
  input.on('data', (chunk: Buffer) => reader.push(chunk));
  input.on('end', () => {
    reader.end();
    void finish();
  });
  input.on('error', (error) => {
    log.debug('stdin failed', { error });
    void finish();
  });
  options.output.on('error', () => {
    // The client stopped reading (EPIPE): nobody is left to answer.
    ended = true;
    void Promise.allSettled([peer?.close()]).then(() => closed.resolve());
  });

  return { closed: closed.promise, close: finish };
}

/** The other side of the streams, in one of the two eras. */
interface Peer {
  receive(incoming: Incoming[], batch: boolean, parsed: unknown): void;
  drain(ms: number): Promise<void>;
  close(): Promise<void>;
}

function createPeer(options: StdioOptions, writer: LineWriter): Peer {
  const idle = createIdleSignal();
  const sink: Sink = {
    answer(message) {
      writer.write(message);
      idle.check();
    },
    tell: (message) => writer.write(message),
    dropped: () => idle.check(),
  };
  const conversation = createConversation({ standalone: sink });
  const connected = conversation.connect(options.createServer('handshake', conversation));

  const receiveBatch = (incoming: Incoming[]): void => {
    if (!allowsBatches(conversation.revision)) {
      writer.write(errorAnswer(null, invalidRequest, 'Invalid request: this protocol revision has no batches.'));
      return;
    }
    const gathered = gatherAnswers(
      incoming,
      options.limits,
      (answers) => writer.write(answers),
      sink,
      () => idle.check(),
    );
    for (const item of incoming) void conversation.receive(refuseInitialize(item), gathered);
  };

  return {
    receive(incoming, batch) {
      void connected.then(() => {
        if (batch) receiveBatch(incoming);
        else for (const item of incoming) void conversation.receive(item, sink);
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
function createSelfDescribingPeer(options: StdioOptions, writer: LineWriter): Peer {
  const idle = createIdleSignal();
  const unanswered = new Set<unknown>();
  const wire: Transport = {
    async start() {},
    async send(message) {
      writer.write(message);
      if (!('method' in message)) unanswered.delete(message.id);
      idle.check();
    },
    async close() {
      wire.onclose?.();
    },
  };
  const service = serveSelfDescribing(() => options.createServer('modern', undefined), {
    transport: wire,
    legacy: 'reject',
    onerror: (error) => options.log.debug('protocol', { error }),
  });
  const listening = new Map<string, Promise<Listening | undefined>>();
  const openListen = async ({ id, params = {} }: Incoming & { kind: 'request' }): Promise<Listening | undefined> => {
    const send = (message: object): void => writer.write(message);
    const outcome = await options.listen.open({ id, params, caller: options.caller, send, end() {} });
    if ('listening' in outcome) return outcome.listening;
    writer.write(outcome.refusal);
    return undefined;
  };
  const drop = async (key: string): Promise<void> => {
    const dropped = listening.get(key);
    listening.delete(key);
    (await dropped)?.drop();
  };
  return {
    receive(incoming, batch, parsed) {
      if (batch) {
        writer.write(errorAnswer(null, invalidRequest, 'Invalid request: this protocol revision has no batches.'));
        return;
      }
      for (const item of incoming) {
        if (item.kind === 'invalid') {
          writer.write(errorAnswer(item.id, item.code, item.problem));
          continue;
        }
        // What is wrong with its envelope is for the SDK to say.
        if (item.kind === 'request' && item.method === 'subscriptions/listen' && hasEnvelope(item.params)) {
          void drop(item.id.key).then(() => listening.set(item.id.key, openListen(item)));
          continue;
        }
        if (item.kind === 'request') unanswered.add(item.id.value);
        if (item.kind === 'notification' && item.method === 'notifications/cancelled') {
          unanswered.delete(item.params?.['requestId']);
          const key = idKey(item.params?.['requestId']);
          if (key !== undefined && listening.has(key)) {
            void drop(key);
            continue;
          }
        }
        wire.onmessage?.(withoutOthers(parsed as JSONRPCMessage));
      }
    },
    drain: (ms) => idle.wait(() => unanswered.size === 0, ms),
    async close() {
      options.listen.close();
      await service.close();
    },
  };
}

function hasEnvelope(params: Record<string, unknown> | undefined): boolean {
  const meta = params?.['_meta'];
  if (!isObject(meta) || !isObject(meta['io.modelcontextprotocol/clientCapabilities'])) return false;
  return (modernRevisions as readonly unknown[]).includes(meta['io.modelcontextprotocol/protocolVersion']);
}

const members = new Set(['jsonrpc', 'id', 'method', 'params', 'result', 'error']);

/** The SDK drops a message that has other members than JSON-RPC's, and its sender would wait for ever. */
function withoutOthers(message: JSONRPCMessage): JSONRPCMessage {
  const own = Object.entries(message).filter(([name]) => members.has(name));
  return Object.fromEntries(own) as JSONRPCMessage;
}

interface LineWriter {
  write(message: object): void;
  end(): Promise<void>;
}

/** Messages of one turn of the event loop leave in one write. */
function createLineWriter(output: Writable): LineWriter {
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
