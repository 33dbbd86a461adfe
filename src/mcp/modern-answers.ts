import { ProtocolError, SERVER_INFO_META_KEY } from '@modelcontextprotocol/server';
import { type AnswersOptions, clientName, createRequestAnswers, type Params } from './answer-request.ts';
import type { Incoming } from './messages.ts';
import type { Offer } from './offer.ts';
import { type Envelope, isModernId, readEnvelope } from './plain-request.ts';
import { internalError } from './wire-errors.ts';

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

export function createModernAnswers(
  offer: Offer,
  options: Omit<AnswersOptions, 'era' | 'watch'>,
  isOthers: (method: string, params: Params | undefined) => boolean = () => false,
): ModernAnswers {
  const answers = createRequestAnswers(offer, { ...options, era: 'modern' });
  const methods = new Set(answers.methods);
  return {
    read({ id: { value: id }, method, params }) {
      if (!isModernId(id) || !methods.has(method) || isOthers(method, params)) return undefined;
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
        const { code, message, data } = thrown instanceof ProtocolError ? thrown : internalError;
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
