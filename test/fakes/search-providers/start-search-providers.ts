import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Owner, serveHttp } from '../loopback-server.ts';
import {
  braveAnswer,
  duckDuckGoChallenge,
  duckDuckGoPage,
  type FakeResult,
  searxngAnswer,
  serperAnswer,
  usualResults,
} from './search-pages.ts';

export type FakeProvider = 'duckduckgo' | 'serper' | 'brave' | 'searxng';

export interface RecordedSearch {
  provider: FakeProvider;
  method: string;
  path: string;
  query: string;
  /** The requested number of results, if the provider has such a parameter. */
  count: number | undefined;
  headers: IncomingMessage['headers'];
}

/** How a provider answers the next requests. */
export type Behaviour =
  | { kind: 'results'; results: readonly FakeResult[] }
  | { kind: 'challenge' }
  | { kind: 'body'; status: number; type: string; body: string; headers?: Record<string, string> }
  | { kind: 'silent' }
  | { kind: 'endless' };

export interface SearchProviders {
  /** Address of each fake, for settings such as `DUCKDUCKGO_URL`. */
  addresses: Record<FakeProvider, string>;
  asked: RecordedSearch[];
  behave(provider: FakeProvider, behaviour: Behaviour): void;
}

/** The only valid keys. Like the real providers, the fakes reject all others. */
export const fakeKeys = { serper: 'serper-key-5f2b91', brave: 'brave-key-77aa03' };

const paths: Record<string, FakeProvider> = {
  '/html/': 'duckduckgo',
  '/search': 'serper',
  '/res/v1/web/search': 'brave',
  '/searx/search': 'searxng',
};

/** Starts all four search engines on one port, under their real paths. */
export async function startSearchProviders(t: Owner): Promise<SearchProviders> {
  const asked: RecordedSearch[] = [];
  const behaviours = new Map<FakeProvider, Behaviour>();
  const { origin } = await serveHttp(t, async (request, response) => {
    const url = new URL(request.url ?? '', 'http://fake');
    const provider = paths[url.pathname];
    if (provider === undefined) {
      send(response, 404, 'text/plain', 'nothing here');
      return;
    }
    const body = await readAll(request);
    const posted: { q?: string; num?: number } = body === '' ? {} : JSON.parse(body);
    asked.push({
      provider,
      method: request.method ?? '',
      path: url.pathname,
      query: url.searchParams.get('q') ?? posted.q ?? '',
      count: posted.num ?? (url.searchParams.has('count') ? Number(url.searchParams.get('count')) : undefined),
      headers: request.headers,
    });
    answer(provider, behaviours.get(provider) ?? { kind: 'results', results: usualResults }, request, response);
  });
  return {
    addresses: { duckduckgo: origin, serper: origin, brave: origin, searxng: `${origin}/searx` },
    asked,
    behave: (provider, behaviour) => behaviours.set(provider, behaviour),
  };
}

function answer(
  provider: FakeProvider,
  behaviour: Behaviour,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  if (!hasKey(provider, request)) {
    send(response, 401, 'application/json', '{"message":"Unauthorized."}');
    return;
  }
  switch (behaviour.kind) {
    case 'silent':
      return;
    case 'endless': {
      response.writeHead(200, { 'content-type': 'application/json' });
      const writeMore = (): void => {
        while (!response.destroyed && response.write(' '.repeat(65_536)));
      };
      response.on('drain', writeMore);
      writeMore();
      return;
    }
    case 'body':
      send(response, behaviour.status, behaviour.type, behaviour.body, behaviour.headers);
      return;
    case 'challenge':
      if (provider === 'duckduckgo') send(response, 202, 'text/html; charset=UTF-8', duckDuckGoChallenge);
      else send(response, 429, 'application/json', '{"message":"Too many requests"}');
      return;
    case 'results':
      if (provider === 'duckduckgo') send(response, 200, 'text/html; charset=UTF-8', duckDuckGoPage(behaviour.results));
      else send(response, 200, 'application/json', JSON.stringify(answers[provider](behaviour.results)));
  }
}

const answers = { serper: serperAnswer, brave: braveAnswer, searxng: searxngAnswer };

function hasKey(provider: FakeProvider, { headers }: IncomingMessage): boolean {
  if (provider === 'serper') return headers['x-api-key'] === fakeKeys.serper;
  if (provider === 'brave') return headers['x-subscription-token'] === fakeKeys.brave;
  return true;
}

function send(response: ServerResponse, status: number, type: string, body: string, headers = {}): void {
  response.writeHead(status, { 'content-type': type, ...headers });
  response.end(body);
}

async function readAll(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}
