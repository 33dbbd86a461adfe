import { SERVER_INFO_META_KEY, type Server } from '@modelcontextprotocol/server';
import type { Caller } from '../tools/call.ts';
import { clientName, createRequestAnswers, type Params, type RequestAnswers } from './answer-request.ts';
import type { Extension } from './extension.ts';
import type { Incoming } from './messages.ts';
import type { Offer } from './offer.ts';
import { modernRevisions } from './protocol-versions.ts';
import { type Envelope, isModernId, readEnvelope } from './read-envelope.ts';
import { createSdkServer } from './sdk-server.ts';
import { internalError, RpcError } from './wire-errors.ts';

/** A request of 2026-07-28 that needs nothing of the SDK. */
export interface DirectRequest {
  readonly id: string | number;
  readonly method: string;
  readonly params: Params | undefined;
  readonly envelope: Envelope;
}

/** Answers requests of 2026-07-28 without a server object of the SDK, which reads each of them several times. */
export interface ModernAnswers {
  /** Undefined if the SDK is to look at the message. */
  read(incoming: Incoming & { kind: 'request' }): DirectRequest | undefined;
  /** The whole answer. What the server says meanwhile goes to `tell`. */
  answer(request: DirectRequest, signal: AbortSignal, tell: (message: object) => void): Promise<AnswerMessage>;
}

export interface AnswerMessage {
  readonly jsonrpc: '2.0';
  readonly id: string | number;
  readonly result?: Params;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** How clients of 2026-07-28 are served; a module of its own, since it loads the SDK. */
export interface Modern {
  answersFor(caller: Caller): ModernAnswers;
  /** For one connection on stdio, or one request over HTTP. */
  serverFor(caller: Caller): Server;
}

export function createModern(whole: Offer, transport: 'pipe' | 'tcp', extension: Extension | undefined): Modern {
  const about = { transport, revision: modernRevisions[0], sessionId: undefined };
  const answersOf = (offer: Offer, caller: Caller): RequestAnswers =>
    createRequestAnswers(offer, {
      era: 'modern',
      caller,
      keepCancellable: () => () => {},
      about: (id) => ({ ...about, requestId: String(id) }),
    });
  return {
    answersFor(caller) {
      const offer = whole.within(caller.rights);
      return createModernAnswers(offer, answersOf(offer, caller), extension);
    },
    serverFor(caller) {
      const offer = whole.within(caller.rights);
      const options = { era: 'modern', revisions: modernRevisions, install: extension?.install } as const;
      return createSdkServer(offer, answersOf(offer, caller), options);
    },
  };
}

function createModernAnswers(offer: Offer, answers: RequestAnswers, extension: Extension | undefined): ModernAnswers {
  const methods = new Set(answers.methods);
  return {
    read({ id: { value: id }, method, params }) {
      if (!isModernId(id) || !methods.has(method) || extension?.owns(method, params)) return undefined;
      const envelope = readEnvelope(method, params);
      return envelope && { id, method, params, envelope };
    },
    async answer({ id, method, params, envelope: { meta, clientInfo, capabilities } }, signal, tell) {
      try {
        const result = await answers.answer(method, params, {
          id,
          meta,
          client: clientName(clientInfo),
          capabilities,
          signal,
          notify: (name, told) => tell({ jsonrpc: '2.0', method: name, params: told }),
          elicit: () => Promise.reject(new Error('In this revision servers send no requests.')),
        });
        return { result: complete(method, result, offer.serverInfo), jsonrpc: '2.0', id };
      } catch (thrown) {
        const { code, message, data } = thrown instanceof RpcError ? thrown : internalError;
        return { jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } };
      }
    },
  };
}

/** Results that a client may keep say for how long; nothing of ours is to be kept. */
const cacheable: ReadonlySet<string> = new Set([
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
]);

/** With what the revision wants in every result. */
function complete(method: string, result: Params, serverInfo: Offer['serverInfo']): Params {
  const { resultType = 'complete' } = result;
  const cache = resultType === 'complete' && cacheable.has(method) ? { ttlMs: 0, cacheScope: 'private' } : {};
  return {
    ...result,
    resultType,
    ...cache,
    _meta: { ...(result['_meta'] as Params | undefined), [SERVER_INFO_META_KEY]: serverInfo },
  };
}
