import {
  type JSONRPCRequest,
  type Notification,
  type Result,
  Server,
  type ServerContext,
  type ServerOptions,
  type StandardSchemaV1,
} from '@modelcontextprotocol/server';
import { clientName, type IncomingRequest, type Params } from '../methods/incoming-call.ts';
import type { Methods } from '../methods/methods.ts';
import { metaKeys, modernRevisions } from '../protocol-versions.ts';
import { type ServerFeatures, serverInfoFor } from '../server-features.ts';

/** Creates the SDK's server for one connection or request of 2026-07-28 that the SDK must check. */
export function createSdkServer(
  features: ServerFeatures,
  methods: Methods,
  attributes: IncomingRequest['attributes'],
): Server {
  const sdk = new ServerWithIcons(features, {
    instructions: features.instructions,
    supportedProtocolVersions: [...modernRevisions],
    capabilities: methods.capabilities,
  });
  sdk.onerror = (error) => features.log.debug('protocol', { error });
  // The SDK must know the methods: it answers unknown ones with HTTP 404 before any handler runs.
  for (const name of methods.names) {
    sdk.setRequestHandler(name, { params: anyParams }, (params, context) =>
      methods.answer(name, params, requestOf(context, attributes)),
    );
  }
  return sdk;
}

type Handler = (request: JSONRPCRequest, context: ServerContext) => Promise<Result>;

/** Adds icons to the answer to `server/discover`. They are not in `serverInfo`, because the SDK repeats that in every answer. */
class ServerWithIcons extends Server {
  readonly #features: ServerFeatures;

  constructor(features: ServerFeatures, options: ServerOptions) {
    super(features.serverInfo, options);
    this.#features = features;
  }

  /** Overrides the SDK's hook for changing the results of its handlers. The SDK's constructor calls it too. */
  protected override _wrapHandler(method: string, handler: Handler): Handler {
    const answer = super._wrapHandler(method, handler);
    if (method !== 'server/discover') return answer;
    return async (request, context) => {
      const result = await answer(request, context);
      const serverInfo = serverInfoFor(this.#features, modernRevisions[0]);
      return { ...result, _meta: { ...result._meta, [metaKeys.server]: serverInfo } };
    };
  }
}

/** Accepts anything: each method validates its own parameters. */
const anyParams: StandardSchemaV1<Params> = {
  '~standard': { version: 1, vendor: 'carrel', validate: (value) => ({ value: value as Params }) },
};

/** Converts a request that the SDK has parsed. */
export function requestOf({ mcpReq }: ServerContext, attributes: IncomingRequest['attributes']): IncomingRequest {
  const { id, signal, inputResponses } = mcpReq;
  const envelope = (mcpReq.envelope ?? {}) as Params;
  return {
    id,
    attributes: { ...attributes, requestId: String(id) },
    meta: mcpReq._meta as Params | undefined,
    client: clientName(envelope[metaKeys.client]),
    capabilities: envelope[metaKeys.capabilities],
    signal,
    inputResponses,
    requestState: mcpReq.requestState<unknown>(),
    notify: (method, params) => void mcpReq.notify({ method, params } as Notification).catch(() => {}),
    send: () => Promise.reject(new Error('In this revision servers send no requests.')),
  };
}
