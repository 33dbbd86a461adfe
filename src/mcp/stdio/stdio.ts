import type { Readable, Writable } from 'node:stream';
import { gatherAnswers, refuseInitialize } from '../messages/batch.ts';
import { errorAnswer, type Incoming, readMessageBytes } from '../messages/messages.ts';
import { allowsBatches, namesRevision } from '../protocol-versions.ts';
import { noopSink } from '../sessions/conversation.ts';
import { rpcCodes } from '../wire-errors.ts';
import { createLineReader } from './line-reader.ts';
import { type ClientLinesOptions, createIdleSignal, type LineOutput, type Peer } from './peer.ts';

/** Handles a client's input, line by line. */
export interface ClientLines {
  receive(bytes: Buffer, line: number): void;
  /** Rejects a line that exceeds the size limit. */
  refuse(line: number): void;
  /** Call at the end of the input. Requests still running after `graceMs` are aborted. */
  finish(graceMs?: number): Promise<void>;
  /** Call when the client no longer reads answers. */
  abandon(): Promise<void>;
}

export interface StdioOptions extends Omit<ClientLinesOptions, 'output'> {
  input: Readable;
  output: Writable;
}

export interface StdioService {
  /** Resolves when the client has disconnected and its requests are answered or aborted. */
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
  // The client no longer reads answers (EPIPE).
  output.on('error', () => void lines.abandon().then(closed.resolve));
  return { closed: closed.promise, close: finish };
}

/**
 * Serves one client's lines. Replaces the SDK's transport, which drops pending answers at the end of the input, ignores
 * batches and doesn't answer invalid JSON.
 *
 * The first message decides how the client is served: with the SDK if the message names its revision, otherwise with a
 * handshake. A client that has sent only `server/discover` may still fall back to a handshake.
 */
export function serveLines(baseOptions: ClientLinesOptions): ClientLines {
  const { limits, output } = baseOptions;
  const options = output.drained
    ? { ...baseOptions, caller: { ...baseOptions.caller, drained: output.drained } }
    : baseOptions;
  let peer: Peer | undefined;
  let isProbing = false;
  let probeClosed: Promise<void> | undefined;
  let finished: Promise<void> | undefined;

  const choosePeer = (parsed: unknown, first: Incoming | undefined): Peer => {
    const isModern = options.revisions.modern && namesRevision(parsed);
    if (peer === undefined) {
      peer = isModern ? createModernPeer(options) : createSessionPeer(options);
      isProbing = isModern;
    }
    if (!isProbing || first?.kind !== 'request') return peer;
    if (isModern) {
      isProbing = first.method === 'server/discover';
      return peer;
    }
    isProbing = false;
    probeClosed = drainAndClose(peer);
    peer = createSessionPeer(options);
    return peer;
  };

  const drainAndClose = async (closing: Peer, graceMs = options.drainMs): Promise<void> => {
    await closing.drain(graceMs);
    await closing.close();
  };

  const finish = async (graceMs?: number): Promise<void> => {
    await Promise.all([probeClosed, peer && drainAndClose(peer, graceMs)]);
    await output.end();
  };

  return {
    receive(bytes, line) {
      if (bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d)) {
        output.noAnswer?.(line);
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
      output.write(errorAnswer(null, rpcCodes.invalidRequest, problem), line);
    },
    finish(graceMs) {
      finished ??= finish(graceMs);
      return finished;
    },
    async abandon() {
      finished ??= Promise.resolve();
      await Promise.allSettled([peer?.close()]);
    },
  };
}

/** Requests that change the session. `resources/list` does, because it subscribes to changes of the list. */
const sessionMethods: ReadonlySet<string> = new Set([
  'initialize',
  'resources/list',
  'resources/subscribe',
  'resources/unsubscribe',
]);

function createSessionPeer(options: ClientLinesOptions): Peer {
  const { output, limits } = options;
  const idle = createIdleSignal();
  const send = (message: object): void => output.write(message);
  const conversation = options.openConversation(options.caller, { standalone: { send } });

  const receiveOne = (item: Incoming, line: number): void => {
    if (item.kind === 'notification' || item.kind === 'response') {
      void conversation.receive(item, noopSink);
      if (item.kind === 'notification' && item.method === 'notifications/initialized') output.keep?.(line);
      output.noAnswer?.(line);
      return;
    }
    const changesSession = item.kind === 'request' && sessionMethods.has(item.method);
    void conversation.receive(item, {
      answer(message) {
        if (changesSession && 'result' in message) output.keep?.(line);
        output.write(message, line);
        idle.check();
      },
      send,
      dropped() {
        output.noAnswer?.(line);
        idle.check();
      },
    });
  };

  const receiveBatch = (incoming: Incoming[], line: number): void => {
    if (!allowsBatches(conversation.revision)) {
      const problem = 'Invalid request: this protocol revision has no batches.';
      output.write(errorAnswer(null, rpcCodes.invalidRequest, problem), line);
      return;
    }
    const done = (): void => {
      output.noAnswer?.(line);
      idle.check();
    };
    const batchSink = gatherAnswers(incoming, limits, (answers) => output.write(answers, line), { send }, done);
    for (const item of incoming) void conversation.receive(refuseInitialize(item), batchSink);
    if (incoming.every(({ kind }) => kind === 'notification' || kind === 'response')) done();
  };

  return {
    receive(incoming, batch, _parsed, line) {
      if (batch) receiveBatch(incoming, line);
      else for (const item of incoming) receiveOne(item, line);
    },
    drain: (ms) => idle.wait(() => conversation.pending === 0, ms),
    close: () => conversation.close(),
  };
}

/** Creates a peer that loads the SDK on demand, because only clients whose messages name their revision need it. */
function createModernPeer(options: ClientLinesOptions): Peer {
  const loaded = Promise.all([options.modern(), import('./modern-peer.ts')]).then(([modern, { openModernPeer }]) =>
    openModernPeer(options, modern),
  );
  return {
    receive: (...message) => void loaded.then((peer) => peer.receive(...message)),
    drain: async (ms) => (await loaded).drain(ms),
    close: async () => (await loaded).close(),
  };
}

/** Creates an output that joins the messages of one event-loop tick into one write. */
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
