import { createFessAdapter } from './fess-adapter.ts';
import type { FessApi, FessApiVersion, FessCallOptions, FessDocument } from './fess-api.ts';
import { createFessClient, type FessClient, type FessClientConfig } from './fess-client.ts';
import { dialectV1, dialectV2, type FessDialect } from './fess-dialect.ts';
import { faultOf, isRecord } from './fess-errors.ts';

export interface FessApiConfig extends FessClientConfig {
  /** `auto` detects it, trying v1 first. */
  fessApi?: 'auto' | FessApiVersion;
}

export interface FessApiDeps {
  /** Called when the server turns out to speak the other generation. */
  onVersion?: (version: FessApiVersion) => void;
  /** Called when the server treats the label as optional; see `search-within.ts`. */
  onLoose?: () => void;
}

export interface DetectingFessApi extends FessApi {
  /** Detects which generation the server speaks; undefined if it speaks none or does not answer. Never throws. */
  detect(): Promise<FessApiVersion | undefined>;
  close(): void;
}

/**
 * The API of a Fess server of any generation. From 15.7 on there is no v1, before that no v2, and a missing one answers
 * with a redirect to an HTML page. So a call that finds no API (or a web page) tries the other generation,
 * and stays with it if it is served: at the start, and again when a server is upgraded while we run.
 */
export function createFessApi(config: FessApiConfig, deps: FessApiDeps = {}): DetectingFessApi {
  const client = createFessClient(config);
  const shared = { lookedUp: new WeakSet<FessDocument>(), onLoose: () => deps.onLoose?.() };
  const adapters = {
    v1: createFessAdapter(client, dialectV1, shared),
    v2: createFessAdapter(client, dialectV2, shared),
  };
  const setting = config.fessApi ?? 'auto';
  let version: FessApiVersion = setting === 'auto' ? 'v1' : setting;

  const use = (next: FessApiVersion) => {
    if (next !== version) deps.onVersion?.(next);
    version = next;
  };

  async function call<T>(run: (api: FessApi) => Promise<T>, options: FessCallOptions = {}): Promise<T> {
    const tried = version;
    try {
      return await run(adapters[tried]);
    } catch (error) {
      const fault = faultOf(error);
      const mayBeMissing = fault === 'api_missing' || fault === 'not_json' || fault === 'unexpected_shape';
      if (setting !== 'auto' || !mayBeMissing) throw error;
      const other = tried === 'v1' ? 'v2' : 'v1';
      if (!(await isServed(client, dialects[other], options))) throw error;
      use(other);
      return run(adapters[other]);
    }
  }

  return {
    search: (request, options) => call((api) => api.search(request, options), options),
    suggest: (request, options) => call((api) => api.suggest(request, options), options),
    popularWords: (request, options) => call((api) => api.popularWords(request, options), options),
    labels: (options) => call((api) => api.labels(options), options),
    health: (options) => call((api) => api.health(options), options),
    document: (docId, label, options) => call((api) => api.document(docId, label, options), options),
    cachedPage: (document, options) => adapters[version].cachedPage(document, options),
    original: (document, options) => adapters[version].original(document, options),
    async detect() {
      const candidates: FessApiVersion[] = setting === 'auto' ? ['v1', 'v2'] : [setting];
      for (const candidate of candidates) {
        if (!(await isServed(client, dialects[candidate], {}))) continue;
        use(candidate);
        return candidate;
      }
      return undefined;
    },
    close: () => client.close(),
  };
}

const dialects: Record<FessApiVersion, FessDialect> = { v1: dialectV1, v2: dialectV2 };

/** Health needs no permission and answers, up or down, in the form of its generation. */
async function isServed(client: FessClient, dialect: FessDialect, options: FessCallOptions): Promise<boolean> {
  try {
    const response = await client.get(dialect.health, new URLSearchParams(), options);
    const body: unknown = JSON.parse(response.body.toString('utf8'));
    return isRecord(body) && dialect.isSpokenBy(body);
  } catch {
    return false;
  }
}
