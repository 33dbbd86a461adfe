import type { ClientName } from '../tools/call.ts';
import {
  type AnswersOptions,
  capabilitiesOf,
  clientName,
  createRequestAnswers,
  type Params,
} from './answer-request.ts';
import type { Conversation, ProtocolServer } from './conversation.ts';
import type { Extension } from './extension.ts';
import { introduction } from './introduction.ts';
import type { Offer } from './offer.ts';
import { isPlain, isPlainHandshake } from './plain-request.ts';
import type { Watch, Watches } from './watches.ts';

export interface ServerOptions extends Omit<AnswersOptions, 'watch' | 'era'> {
  revisions: readonly string[];
  watches: Watches;
  extension?: Extension | undefined;
}

/** The server of one session; never shared between clients, so no answer can reach the wrong one. */
export function createProtocolServer(
  offer: Offer,
  conversation: Conversation,
  { watches, revisions, extension, ...options }: ServerOptions,
): ProtocolServer {
  const { instructions } = offer;
  let client: ClientName = clientName(undefined);
  let clientCapabilities: unknown;
  let gone: (() => void) | undefined;
  let watch: Watch | undefined;
  const openWatch = (): Watch => {
    watch ??= watches.open(options.caller, (method, params) => {
      conversation.tell({ jsonrpc: '2.0', method, ...(params ? { params } : {}) });
    });
    return watch;
  };
  const answers = createRequestAnswers(offer, { ...options, era: 'handshake', watch: openWatch });
  const methods = new Set(answers.methods);
  return {
    initialize(params) {
      if (extension?.owns('initialize', params) || !isPlainHandshake(params)) return undefined;
      const asked = revisions.find((revision) => revision === params['protocolVersion']);
      const protocolVersion = asked ?? revisions[0] ?? '';
      const capabilities = capabilitiesOf(offer, 'handshake');
      const serverInfo = introduction(offer, protocolVersion);
      return { protocolVersion, capabilities, serverInfo, ...(instructions ? { instructions } : {}) };
    },
    begin({ clientInfo, capabilities }) {
      client = clientName(clientInfo);
      clientCapabilities = capabilities;
      gone = offer.onClient?.(client, options.caller);
    },
    takes: (method, params) =>
      (method === 'ping' || methods.has(method)) && isPlain(params) && !extension?.owns(method, params),
    answer: (method, params, id, signal) =>
      answers.answer(method, params, {
        id,
        meta: params?.['_meta'] as Params | undefined,
        client,
        capabilities: clientCapabilities,
        signal,
        notify: (name, told) => conversation.tell({ jsonrpc: '2.0', method: name, params: told }, id),
        async elicit(form, timeout) {
          const sdk = await conversation.openSdk();
          const about = { timeout, signal, relatedRequestId: id };
          return sdk.request({ method: 'elicitation/create', params: { ...form } }, about);
        },
      }),
    async createSdk() {
      const { createSdkServer } = await import('./sdk-server.ts');
      return createSdkServer(offer, answers, { era: 'handshake', revisions, install: extension?.install });
    },
    close() {
      gone?.();
      watch?.close();
    },
  };
}
