import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type Notification,
  Server,
  type ServerContext,
  type StandardSchemaV1,
} from '@modelcontextprotocol/server';
import type { ClientName } from '../tools/call.ts';
import {
  type AnswersOptions,
  clientName,
  completes,
  createRequestAnswers,
  type IncomingRequest,
  offersTasks,
  type Params,
} from './answer-request.ts';
import type { ProtocolServer } from './conversation.ts';
import type { Offer } from './offer.ts';
import { isPlain } from './plain-request.ts';
import type { Watch, Watches } from './watches.ts';
import { tasksExtension } from './wire-errors.ts';

export interface ServerOptions extends Omit<AnswersOptions, 'watch'> {
  revisions: readonly string[];
  watches: Watches;
}

/**
 * A server for one session or one request; never shared between clients, so no answer can reach the wrong one.
 *
 * All methods come in through the SDK's fallback handler. Handlers that are registered by method would have every
 * argument and result checked again with schemas that know less than our own.
 */
export function createProtocolServer(offer: Offer, { watches, ...options }: ServerOptions): ProtocolServer {
  const { serverInfo, instructions, resources, prompts, experimental } = offer;
  const sdk = new Server(serverInfo, {
    instructions,
    supportedProtocolVersions: [...options.revisions],
    capabilities: {
      tools: {},
      ...(resources.any ? { resources: resources.watchable ? { subscribe: true, listChanged: true } : {} } : {}),
      ...(prompts.any ? { prompts: {} } : {}),
      ...(completes(offer) ? { completions: {} } : {}),
      ...(experimental ? { experimental } : {}),
      ...(offersTasks(offer, options.era) ? { extensions: { [tasksExtension]: {} } } : {}),
    },
  });
  sdk.onerror = (error) => offer.log.debug('protocol', { error });
  sdk.oninitialized = () => {
    gone = offer.onClient?.(clientName(sdk.getClientVersion()), options.caller);
  };
  let gone: (() => void) | undefined;
  let watch: Watch | undefined;
  const openWatch = (): Watch => {
    watch ??= watches.open(options.caller, (method, params) => {
      void sdk.notification({ method, ...(params ? { params } : {}) } as Notification).catch(() => {});
    });
    return watch;
  };
  sdk.onclose = () => {
    gone?.();
    watch?.close();
  };
  const answers = createRequestAnswers(offer, { ...options, watch: openWatch });
  if (options.era === 'modern') {
    // Here the SDK must know the methods: it answers an unknown one with HTTP 404 before any handler runs.
    for (const name of answers.methods) {
      sdk.setRequestHandler(name, { params: anyParams }, (params, context) =>
        answers.answer(name, params, requestOf(sdk, context)),
      );
    }
    return { sdk, direct: undefined };
  }
  sdk.fallbackRequestHandler = ({ method, params }, context) => answers.answer(method, params, requestOf(sdk, context));
  const methods = new Set(answers.methods);
  let client: ClientName | undefined;
  return {
    sdk,
    direct: {
      takes: (method, params) => methods.has(method) && isPlain(params),
      answer(method, params, id, signal) {
        client ??= clientName(sdk.getClientVersion());
        return answers.answer(method, params, {
          id,
          meta: params?.['_meta'] as Params | undefined,
          client,
          capabilities: sdk.getClientCapabilities(),
          signal,
          notify: (name, told) => notifyAbout(sdk, id, name, told),
          elicit: (form, timeout) =>
            sdk.request(
              { method: 'elicitation/create', params: { ...form } },
              { timeout, signal, relatedRequestId: id },
            ),
        });
      },
    },
  };
}

function notifyAbout(sdk: Server, relatedRequestId: string | number, method: string, params: Params): void {
  void sdk.notification({ method, params } as Notification, { relatedRequestId }).catch(() => {});
}

/** Accepts anything: each method reads its own parameters and reports what is wrong with them. */
const anyParams: StandardSchemaV1<Params> = {
  '~standard': { version: 1, vendor: 'carrel', validate: (value) => ({ value: value as Params }) },
};

/** A request that the SDK has read. */
function requestOf(sdk: Server, { mcpReq }: ServerContext): IncomingRequest {
  const { id, signal, inputResponses } = mcpReq;
  const envelope = mcpReq.envelope as Params | undefined;
  return {
    id,
    meta: mcpReq._meta as Params | undefined,
    client: clientName(envelope?.[CLIENT_INFO_META_KEY] ?? sdk.getClientVersion()),
    capabilities: envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? sdk.getClientCapabilities(),
    signal,
    inputResponses,
    requestState: mcpReq.requestState<unknown>(),
    notify: (method, params) => notifyAbout(sdk, id, method, params),
    elicit: (form, timeout) => mcpReq.send({ method: 'elicitation/create', params: { ...form } }, { timeout, signal }),
  };
}
