import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { refuseUnread, respondEmpty } from '../../http/respond.ts';
import { gatherAnswers, refuseInitialize } from '../messages/batch.ts';
import type { MessageLimits } from '../messages/messages.ts';
import type { Conversation, OpenConversation, Sink } from '../sessions/conversation.ts';
import { openEventStream } from './event-stream.ts';
import { readMessages, respondProblem, rpcProblem } from './read-messages.ts';
import { callerKey, callerOf, type Visitor } from './visitor.ts';

export interface SsePairOptions {
  limits: MessageLimits;
  connectionsMax: number;
  /** Max connections per caller. */
  perCallerMax: number;
  openConversation: OpenConversation;
}

interface PairConnection {
  callerKey: string;
  conversation: Conversation;
  sink: Sink;
  end(): void;
}

/** Creates the HTTP+SSE transport of 2024-11-05: requests go to `POST /messages`, answers come on `GET /sse`. */
export function createSsePair({ limits, connectionsMax, perCallerMax, openConversation }: SsePairOptions) {
  const connections = new Map<string, PairConnection>();
  return {
    async open(response: ServerResponse, visitor: Visitor): Promise<void> {
      const key = callerKey(visitor);
      const ownConnections = [...connections].filter(([, connection]) => connection.callerKey === key);
      if (ownConnections.length >= perCallerMax || connections.size >= connectionsMax) {
        // Closes the caller's oldest idle connection.
        const [oldId, old] = ownConnections.find(([, { conversation }]) => conversation.pending === 0) ?? [];
        if (oldId !== undefined) connections.delete(oldId);
        old?.end();
        void old?.conversation.close();
      }
      if (connections.size >= connectionsMax) {
        const problem = 'Too many connections are open. Try again in a few seconds.';
        respondProblem(response, 503, problem, { 'retry-after': '5' });
        return;
      }
      const id = randomUUID();
      const stream = openEventStream(response, {}, () => {
        void connections.get(id)?.conversation.close();
        connections.delete(id);
      });
      const sink: Sink = {
        answer: (message) => stream.send(message),
        send: (message) => stream.send(message),
        dropped() {},
      };
      const connection = { sessionId: id, standalone: sink, initializedGraceMs: 1_000 };
      const conversation = openConversation(callerOf(visitor, id), connection);
      connections.set(id, { callerKey: key, conversation, sink, end: () => stream.end() });
      stream.sendEvent('endpoint', `/messages?sessionId=${id}`);
    },
    async post(request: IncomingMessage, response: ServerResponse, visitor: Visitor): Promise<void> {
      const id = new URL(request.url ?? '', 'http://localhost').searchParams.get('sessionId') ?? '';
      const connection = connections.get(id);
      if (connection === undefined || connection.callerKey !== callerKey(visitor)) {
        refuseUnread(response, 404, rpcProblem('Unknown connection. Open one with GET /sse.'));
        return;
      }
      const message = await readMessages(request, response, limits);
      if (message === undefined) return;
      respondEmpty(response, 202);
      const { conversation, sink } = connection;
      const target = message.batch
        ? gatherAnswers(message.incoming, limits, (answers) => sink.answer(answers), sink)
        : sink;
      for (const item of message.incoming)
        void conversation.receive(message.batch ? refuseInitialize(item) : item, target);
    },
    async close(): Promise<void> {
      for (const connection of connections.values()) connection.end();
      connections.clear();
    },
  };
}
