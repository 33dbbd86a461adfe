import type { Server } from '@modelcontextprotocol/server';
import type { Caller } from '../../tools/call.ts';
import { answerOf, type Incoming, idText, type WireId } from '../messages/messages.ts';
import { type Envelope, isModernId, readEnvelope } from '../messages/read-envelope.ts';
import { clientName, type Params } from '../methods/incoming-call.ts';
import { createMethods, type Methods } from '../methods/methods.ts';
import { metaKeys, modernRevisions } from '../protocol-versions.ts';
import type { ServerFeatures } from '../server-features.ts';
import { createSdkServer } from './sdk-server.ts';

/** A request of 2026-07-28 that doesn't need the SDK. */
export interface DirectRequest {
  readonly id: WireId;
  readonly method: string;
  readonly params: Params | undefined;
  readonly envelope: Envelope;
}

/** Answers requests of 2026-07-28 without the SDK's server, which parses each request several times. */
export interface ModernAnswers {
  /** Reads a request. Returns undefined if the SDK must handle it. */
  read(incoming: Incoming & { kind: 'request' }): DirectRequest | undefined;
  /** Returns the complete answer; undefined if cancelled. Messages sent before the answer go to `send`. */
  answer(request: DirectRequest, signal: AbortSignal, send: (message: object) => void): Promise<object | undefined>;
}

/** Serves clients of 2026-07-28. This module loads the SDK, so it is imported on demand. */
export interface ModernProtocol {
  answersFor(caller: Caller): ModernAnswers;
  /** Creates the SDK's server for one stdio connection or one HTTP request. */
  serverFor(caller: Caller): Server;
}

export function createModernProtocol(allFeatures: ServerFeatures, transport: 'pipe' | 'tcp'): ModernProtocol {
  const attributes = { transport, revision: modernRevisions[0], sessionId: undefined };
  return {
    answersFor(caller) {
      const features = allFeatures.scopedTo(caller.rights);
      return createModernAnswers(features, createMethods(features, { era: 'modern', caller }), attributes);
    },
    serverFor(caller) {
      const features = allFeatures.scopedTo(caller.rights);
      return createSdkServer(features, createMethods(features, { era: 'modern', caller }), attributes);
    },
  };
}

/** Facts about requests, for metrics and traces. */
interface ModernAttributes {
  readonly transport: 'pipe' | 'tcp';
  readonly revision: string;
  readonly sessionId: undefined;
}

function createModernAnswers(features: ServerFeatures, methods: Methods, attributes: ModernAttributes): ModernAnswers {
  return {
    read({ id, method, params }) {
      if (!isModernId(id.value) || !methods.has(method)) return undefined;
      const envelope = readEnvelope(method, params);
      return envelope && { id, method, params, envelope };
    },
    async answer({ id, method, params, envelope: { meta, clientInfo, capabilities } }, signal, send) {
      const answering = methods.answer(method, params, {
        id: idText(id),
        attributes: { ...attributes, requestId: idText(id) },
        meta,
        client: clientName(clientInfo),
        capabilities,
        signal,
        notify(name, params) {
          if (!signal.aborted) send({ jsonrpc: '2.0', method: name, params: params });
        },
        send: sendsNoRequests,
      });
      const completed = answering.then((result) => complete(method, result, features.serverInfo));
      const answer = await answerOf(id, completed);
      return signal.aborted ? undefined : answer;
    },
  };
}

const sendsNoRequests = (): Promise<never> => Promise.reject(new Error('In this revision servers send no requests.'));

/** Methods whose results must say how long they may be cached. Carrel's must not be cached. */
const cacheable: ReadonlySet<string> = new Set([
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
]);

/** Adds the fields that the revision requires in every result. */
function complete(method: string, result: Params, serverInfo: ServerFeatures['serverInfo']): Params {
  const { resultType = 'complete' } = result;
  const cache = resultType === 'complete' && cacheable.has(method) ? { ttlMs: 0, cacheScope: 'private' } : {};
  return {
    ...result,
    resultType,
    ...cache,
    _meta: { ...(result['_meta'] as Params | undefined), [metaKeys.server]: serverInfo },
  };
}
