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
  logged: { bytes: number };
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
  readonly idle: boolean;
  /** True if there was a request after the handshake. */
  readonly used: boolean;
  /** Times by `performance.now()`. */
  readonly openedAt: number;
  lastUsedAt: number;
  post(options: PostOptions): Promise<void>;
  /** Opens the stream for messages that answer no request. Returns false if there is one already. */
  listen(response: ServerResponse): boolean;
  /** Resumes a stream after an event. Returns false if the event is unknown. */
  resume(response: ServerResponse, lastEventId: string): boolean;
  /** Sends a message of another process, if this one has the client's stream. */
  deliver(message: object): void;
  close(): Promise<void>;
}

/** After this long without output, the answer becomes a stream, whose keep-alives prevent a timeout. */
const silenceMs = 10_000;
const initializedGraceMs = 1_000;

/** A sequence of events. They are stored, so that the client can resume after a disconnect. */
interface Lane {
  id: number;
  stream: EventStream | undefined;
  /** True if nothing more may be sent. */
  finished: boolean;
}

export function createSession(options: SessionOptions): Session {
  const { id, callerKey, otherProcesses } = options;
  const headers = { 'mcp-session-id': id };
  const log = createEventLog(options.logged, otherProcesses ? `${otherProcesses.tag}-` : '');
  const lanes = new Map<number, Lane>();
  let lastLaneId = 0;

  const openLane = (): Lane => {
    lastLaneId += 1;
    const lane: Lane = { id: lastLaneId, stream: undefined, finished: false };
    lanes.set(lane.id, lane);
    return lane;
  };

  const attach = (lane: Lane, response: ServerResponse): EventStream => {
    const stream = openEventStream(response, headers, () => {
      if (lane.stream === stream) lane.stream = undefined;
    });
    lane.stream = stream;
    return stream;
  };

  const sendOn = (lane: Lane, message: object): void => {
    const eventId = log.append(lane.id, message);
    lane.stream?.send(message, eventId);
  };

  const finish = (lane: Lane): void => {
    lane.finished = true;
    lane.stream?.end();
    lanes.delete(lane.id);
  };

  let used = false;
  const standalone = openLane();
  const conversation = options.open({
    sessionId: id,
    initializedGraceMs,
    standalone: {
      send(message) {
        if (!standalone.stream?.open) otherProcesses?.forward(message);
        sendOn(standalone, message);
      },
    },
    ...(otherProcesses ? { tag: otherProcesses.tag } : {}),
  });

  /** Creates the sink for the answers to one POST. It sends plain JSON, or a stream if there are other messages too. */
  const openExchange = ({ response, incoming, batch, acceptsJson, acceptsStream }: PostOptions): Sink => {
    let lane: Lane | undefined;

    const stream = (): Lane => {
      clearTimeout(silence);
      if (lane === undefined) {
        lane = openLane();
        const opened = attach(lane, response);
        if (startsWithEmptyEvent(conversation.revision)) opened.prime(log.append(lane.id, undefined));
      }
      return lane;
    };
    const silence = acceptsStream ? setTimeout(stream, silenceMs).unref() : undefined;

    const endExchange = (): void => {
      clearTimeout(silence);
      if (lane) finish(lane);
      else if (!response.headersSent) respondEmpty(response, 202, headers);
    };
    const deliver = (message: object): void => {
      if (lane || !acceptsJson) sendOn(stream(), message);
      else respondJson(response, 200, message, headers);
    };
    const send = (message: object): void => {
      if (acceptsStream) sendOn(stream(), message);
      else if ('id' in message)
        void conversation.receive({ kind: 'response', message: undeliverable(message) }, noopSink);
    };
    const hangUp = (): void => {
      if (acceptsStream) stream().stream?.end();
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
    get idle() {
      return conversation.pending === 0 && [...lanes.values()].every((lane) => lane.stream === undefined);
    },
    get used() {
      return used;
    },
    async post(post) {
      used ||= post.incoming.some((message) => message.kind === 'request' && message.method !== 'initialize');
      const needsAnswer = post.incoming.some(({ kind }) => kind === 'request' || kind === 'invalid');
      const sink = needsAnswer ? openExchange(post) : noopSink;
      for (const item of post.incoming) void conversation.receive(post.batch ? refuseInitialize(item) : item, sink);
      if (!needsAnswer) respondEmpty(post.response, 202, headers);
    },
    listen(response) {
      if (standalone.stream?.open) return false;
      const stream = attach(standalone, response);
      if (startsWithEmptyEvent(conversation.revision)) stream.prime(log.append(standalone.id, undefined));
      return true;
    },
    resume(response, lastEventId) {
      const missed = log.after(lastEventId);
      if (missed === undefined) return false;
      const lane = lanes.get(missed.streamId) ?? { id: missed.streamId, stream: undefined, finished: true };
      lane.stream?.end();
      const stream = attach(lane, response);
      for (const event of missed.events) stream.send(event.message, event.id);
      if (lane.finished) stream.end();
      return true;
    },
    deliver(message) {
      if (standalone.stream?.open) sendOn(standalone, message);
    },
    async close() {
      await conversation.close();
      for (const lane of lanes.values()) lane.stream?.end();
      lanes.clear();
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

/** True if a stream starts with an empty event to resume from: since 2025-11-25. Older clients may fail on it. */
function startsWithEmptyEvent(revision: string | undefined): boolean {
  return revision !== undefined && revision >= '2025-11-25';
}
