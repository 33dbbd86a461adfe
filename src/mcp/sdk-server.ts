import {
  type JSONRPCRequest,
  type Notification,
  type Result,
  SERVER_INFO_META_KEY,
  Server,
  type ServerContext,
  type ServerOptions,
  type StandardSchemaV1,
} from '@modelcontextprotocol/server';
import {
  capabilitiesOf,
  clientName,
  type IncomingRequest,
  type Params,
  type RequestAnswers,
} from './answer-request.ts';
import { introduction } from './introduction.ts';
import type { Offer } from './offer.ts';
import { envelopeKeys } from './plain-request.ts';
import { type Era, modernRevisions } from './protocol-versions.ts';

export interface SdkServerOptions {
  era: Era;
  revisions: readonly string[];
  install?: ((server: Server) => void) | undefined;
}

/**
 * The SDK's server for one session or one request, for whatever does not go past it.
 *
 * All methods come in through its fallback handler. Handlers that are registered by method would have every argument and
 * result checked again with schemas that know less than our own.
 */
export function createSdkServer(
  offer: Offer,
  answers: RequestAnswers,
  { era, revisions, install }: SdkServerOptions,
): Server {
  const sdk = new IntroducingServer(offer, {
    instructions: offer.instructions,
    supportedProtocolVersions: [...revisions],
    capabilities: capabilitiesOf(offer, era),
  });
  sdk.onerror = (error) => offer.log.debug('protocol', { error });
  if (era === 'handshake') {
    sdk.fallbackRequestHandler = ({ method, params }, context) =>
      answers.answer(method, params, requestOf(sdk, context));
  } else {
    // Here the SDK must know the methods: it answers an unknown one with HTTP 404 before any handler runs.
    for (const name of answers.methods) {
      sdk.setRequestHandler(name, { params: anyParams }, (params, context) =>
        answers.answer(name, params, requestOf(sdk, context)),
      );
    }
  }
  install?.(sdk);
  return sdk;
}

type Handler = (request: JSONRPCRequest, context: ServerContext) => Promise<Result>;

/** Tells those who ask who we are more than the SDK then repeats in every answer. */
class IntroducingServer extends Server {
  readonly #offer: Offer;

  constructor(offer: Offer, options: ServerOptions) {
    super(offer.serverInfo, options);
    this.#offer = offer;
  }

  /** The SDK's way to change what its own handlers answer; it calls this within its constructor, too. */
  protected override _wrapHandler(method: string, handler: Handler): Handler {
    const answer = super._wrapHandler(method, handler);
    if (method === 'initialize') {
      return async (request, context) => {
        const result = await answer(request, context);
        return { ...result, serverInfo: introduction(this.#offer, String(result['protocolVersion'])) };
      };
    }
    if (method !== 'server/discover') return answer;
    return async (request, context) => {
      const result = await answer(request, context);
      const serverInfo = introduction(this.#offer, modernRevisions[0]);
      return { ...result, _meta: { ...result._meta, [SERVER_INFO_META_KEY]: serverInfo } };
    };
  }
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
    client: clientName(envelope?.[envelopeKeys.client] ?? sdk.getClientVersion()),
    capabilities: envelope?.[envelopeKeys.capabilities] ?? sdk.getClientCapabilities(),
    signal,
    inputResponses,
    requestState: mcpReq.requestState<unknown>(),
    notify: (method, params) => void mcpReq.notify({ method, params } as Notification).catch(() => {}),
    elicit: (form, timeout) => mcpReq.send({ method: 'elicitation/create', params: { ...form } }, { timeout, signal }),
  };
}
