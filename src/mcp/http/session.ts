import type { ServerResponse } from 'node:http';
import { respondEmpty, respondJson } from '../../http/respond.ts';
import { gatherAnswers, refuseInitialize } from '../messages/batch.ts';
import type { Incoming, MessageLimits } from '../messages/messages.ts';
import { type Connection, type Conversation, noopSink, type Sink } from '../sessions/conversation.ts';
import { rpcCodes } from '../wire-errors.ts';
import { createEventLog } from './event-log.ts';
import { type EventStream, openEventStream } from './event-stream.ts';

export interface SessionOptions {
  id: string;
  /** Identifies the caller who opened the session. Nobody else may use it, even with its id. */
  callerKey: string;
  limits: Pick<MessageLimits, 'answerBytesMax'>;
  /** Counts the bytes in the event logs of all sessions. */
  allLogs: { bytes: number };
  open(connection: Connection): Conversation;
  /** Set if other processes may also serve the session. */
  otherProcesses?: OtherProcesses | undefined;
}

export interface OtherProcesses {
  /** This process's tag. */
  tag: string;
  /** Forwards a message to the process with the client's stream. */
  forward(message: object): void;
}

export interface PostOptions {
  response: ServerResponse;
  incoming: Incoming[];
  batch: boolean;
  acceptsJson: boolean;
  acceptsStream: boolean;
}

/** One client's session over Streamable HTTP, in the revisions that have sessions. */
export interface Session {
  readonly id: string;
  readonly callerKey: string;
  readonly conversation: Conversation;
  /** True if no request is running and no stream is open. */
  readonly isIdle: boolean;
  /** True if there was a request after the handshake. */
  readonly isUsed: boolean;
  /** Times by `performance.now()`. */
  readonly openedAt: number;
  lastUsedAt: number;
  post(options: PostOptions): Promise<void>;
  /** Opens the stream for messages that answer no request. Returns false if there is one already. */
  listen(response: ServerResponse): boolean;
  /** Resumes a stream after an event. Returns false if the event is unknown. */
  resume(response: ServerResponse, lastEventId: string): boolean;
  /** Sends a message from another process to the client, if this process has the client's stream. */
  deliver(message: object): void;
  close(): Promise<void>;
}

/** After this long without output, the answer becomes a stream, whose keep-alives prevent a timeout. */
const silenceMs = 10_000;
const initializedGraceMs = 1_000;

/** A stream of stored events, from which the client can resume after a disconnect. */
interface ResumableStream {
  id: number;
  /** The open response, if the client is connected. */
  connection: EventStream | undefined;
  /** True if nothing more may be sent. */
  isFinished: boolean;
}

export function createSession(options: SessionOptions): Session {
  const { id, callerKey, otherProcesses } = options;
  const headers = { 'mcp-session-id': id };
  const log = createEventLog(options.allLogs, otherProcesses ? `${otherProcesses.tag}-` : '');
  const streams = new Map<number, ResumableStream>();
  let lastStreamId = 0;

  const createStream = (): ResumableStream => {
    lastStreamId += 1;
    const stream: ResumableStream = { id: lastStreamId, connection: undefined, isFinished: false };
    streams.set(stream.id, stream);
    return stream;
  };

  const attach = (stream: ResumableStream, response: ServerResponse): EventStream => {
    const connection = openEventStream(response, headers, () => {
      if (stream.connection === connection) stream.connection = undefined;
    });
    stream.connection = connection;
    return connection;
  };

  const sendOn = (stream: ResumableStream, message: object): void => {
    const eventId = log.append(stream.id, message);
    stream.connection?.send(message, eventId);
  };

  const finish = (stream: ResumableStream): void => {
    stream.isFinished = true;
    stream.connection?.end();
    streams.delete(stream.id);
  };

  let isUsed = false;
  const standalone = createStream();
  const conversation = options.open({
    sessionId: id,
    initializedGraceMs,
    standalone: {
      send(message) {
        if (!standalone.connection?.open) otherProcesses?.forward(message);
        sendOn(standalone, message);
      },
    },
    ...(otherProcesses ? { tag: otherProcesses.tag } : {}),
  });

  /** Creates the sink for the answers to one POST. It sends plain JSON, or a stream if there are other messages too. */
  const openExchange = ({ response, incoming, batch, acceptsJson, acceptsStream }: PostOptions): Sink => {
    let stream: ResumableStream | undefined;

    const openStream = (): ResumableStream => {
      clearTimeout(silenceTimer);
      if (stream === undefined) {
        stream = createStream();
        const connection = attach(stream, response);
        if (startsWithEmptyEvent(conversation.revision)) connection.prime(log.append(stream.id, undefined));
      }
      return stream;
    };
    const silenceTimer = acceptsStream ? setTimeout(openStream, silenceMs).unref() : undefined;

    const endExchange = (): void => {
      clearTimeout(silenceTimer);
      if (stream) finish(stream);
      else if (!response.headersSent) respondEmpty(response, 202, headers);
    };
    const deliver = (message: object): void => {
      if (stream || !acceptsJson) sendOn(openStream(), message);
      else respondJson(response, 200, message, headers);
    };
    const send = (message: object): void => {
      if (acceptsStream) sendOn(openStream(), message);
      else if ('id' in message)
        void conversation.receive({ kind: 'response', message: undeliverable(message) }, noopSink);
    };
    const hangUp = (): void => {
      if (acceptsStream) openStream().connection?.end();
    };
    if (batch) return { ...gatherAnswers(incoming, options.limits, deliver, { send }, endExchange), hangUp };
    const answer = (message: object): void => {
      deliver(message);
      endExchange();
    };
    return { answer, send, dropped: endExchange, hangUp };
  };

  return {
    id,
    callerKey,
    conversation,
    openedAt: performance.now(),
    lastUsedAt: performance.now(),
    get isIdle() {
      return conversation.pending === 0 && [...streams.values()].every((stream) => stream.connection === undefined);
    },
    get isUsed() {
      return isUsed;
    },
    async post(post) {
      isUsed ||= post.incoming.some((message) => message.kind === 'request' && message.method !== 'initialize');
      const needsAnswer = post.incoming.some(({ kind }) => kind === 'request' || kind === 'invalid');
      const sink = needsAnswer ? openExchange(post) : noopSink;
      for (const item of post.incoming) void conversation.receive(post.batch ? refuseInitialize(item) : item, sink);
      if (!needsAnswer) respondEmpty(post.response, 202, headers);
    },
    listen(response) {
      if (standalone.connection?.open) return false;
      const connection = attach(standalone, response);
      if (startsWithEmptyEvent(conversation.revision)) connection.prime(log.append(standalone.id, undefined));
      return true;
    },
    resume(response, lastEventId) {
      const missed = log.after(lastEventId);
      if (missed === undefined) return false;
      const stream = streams.get(missed.streamId) ?? { id: missed.streamId, connection: undefined, isFinished: true };
      stream.connection?.end();
      const connection = attach(stream, response);
      for (const event of missed.events) connection.send(event.message, event.id);
      if (stream.isFinished) connection.end();
      return true;
    },
    deliver(message) {
      if (standalone.connection?.open) sendOn(standalone, message);
    },
    async close() {
      await conversation.close();
      for (const stream of streams.values()) stream.connection?.end();
      streams.clear();
      log.clear();
    },
  };
}

/** Creates the reply to a question that can't be delivered, as if the client didn't know the method. */
function undeliverable({ id }: { id: unknown }): Record<string, unknown> {
  return {
    jsonrpc: '2.0',
    id,
    error: { code: rpcCodes.methodNotFound, message: 'The client accepts no event stream.' },
  };
}

/** True if streams start with an empty event, from which a client can resume. Clients of older MCP revisions may fail on it. */
function startsWithEmptyEvent(revision: string | undefined): boolean {
  return revision !== undefined && revision >= '2025-11-25';
}
