import { mkdirSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { after } from 'node:test';
import { type Corpus, generateCorpus } from '../../fakes/fess/corpus.ts';
import { type DocumentSite, startDocumentSite } from '../../fakes/fess/document-site.ts';
import type { FakeDocument } from '../../fakes/fess/fake-document.ts';
import { type FakeFess, type FakeFessOptions, startFakeFess } from '../../fakes/fess/start-fake-fess.ts';
import { type ChildProgram, carrelProgram, makeFolder, startListening } from '../../support/child-program.ts';
import { openSession, post } from '../../support/raw-http.ts';
import { type Message, startStdioClient } from '../../support/stdio-client.ts';

/** A test or a suite: runs clean-up when it ends. */
export interface Owner {
  after(clean: () => void | Promise<void>): void;
}

/** Cleans up in reverse order, because later parts depend on earlier ones. */
function lastFirst(owner: Owner): Owner {
  const cleanUps: (() => void | Promise<void>)[] = [];
  owner.after(async () => {
    for (const cleanUp of cleanUps.reverse()) await cleanUp();
  });
  return { after: (cleanUp) => void cleanUps.push(cleanUp) };
}

/** The owner of everything that a file's tests share. */
export function wholeFile(): Owner {
  return lastFirst({ after });
}

export const finance = {
  id: 'finance',
  name: 'Finance',
  description: 'Reports and budgets of the finance department',
  labelFilter: 'finance',
};

export const financeBlock = `[Knowledge Domain]
id: finance
name: Finance
description: Reports and budgets of the finance department
fessLabel: finance`;

/** The single `finance` document, at the URL that a test needs. */
export function documentAt(url: string, more: Partial<FakeDocument> = {}): FakeDocument {
  return {
    docId: 'c0ffee00c0ffee00c0ffee00c0ffee00',
    url,
    title: 'The document',
    content: 'short',
    digest: 'short',
    labels: ['finance'],
    roles: ['Rguest'],
    mimetype: 'text/html',
    filetype: 'html',
    lang: 'en',
    created: '2025-01-01T00:00:00.000Z',
    lastModified: '2025-01-02T00:00:00.000Z',
    contentLength: 5,
    indexedBy: 'crawler',
    clickCount: 0,
    ...more,
  };
}

export const documentUri = 'fess://finance/doc/c0ffee00c0ffee00c0ffee00c0ffee00';

/** A home folder with a configuration file. A string is written unchanged. */
export function makeHome(owner: Owner, config?: object | string, folder = '.mcp-feiss'): string {
  const home = makeFolder(owner);
  mkdirSync(join(home, folder));
  if (config !== undefined) {
    writeFileSync(join(home, folder, 'config.json'), typeof config === 'string' ? config : JSON.stringify(config));
  }
  return home;
}

/** A client of the built program over raw JSON-RPC, on either transport. */
export interface Peer {
  readonly program: ChildProgram;
  readonly initialized: Message;
  /** Sends a request and returns its answer. The id is new unless given. */
  request(method: string, params?: object, id?: string | number): Promise<Message>;
  call(tool: string, args?: object, options?: { id?: string | number; progressToken?: string }): Promise<Message>;
  /** Sends a request that may get no answer. Over HTTP, resolves when the exchange ends without one. */
  fire(method: string, params: object, id: string | number): Promise<Message | undefined>;
  notify(method: string, params?: object): Promise<void>;
  /** All answers and notifications received, in order. */
  readonly messages: readonly Message[];
  /** The first matching message, past or future. */
  next(fits: (message: Message) => boolean): Promise<Message>;
}

export type TransportName = 'stdio' | 'http';

export async function connect(
  given: Owner,
  transport: TransportName,
  home: string,
  args: readonly string[] = [],
): Promise<Peer> {
  const owner = lastFirst(given);
  return transport === 'stdio' ? connectStdio(owner, home, args) : connectHttp(owner, home, args);
}

let lastId = 0;
const revision = '2025-03-26';

async function connectStdio(owner: Owner, home: string, args: readonly string[]): Promise<Peer> {
  const client = startStdioClient(carrelProgram, ['fess', ...args], { HOME: home });
  owner.after(async () => void (await client.end()));
  const initialized = await client.handshake(revision);
  return withCalls({
    program: client.program,
    initialized,
    messages: client.messages,
    next: client.next,
    request: (method, params = {}, id = `r${++lastId}`) => client.request(id, method, params),
    async notify(method, params = {}) {
      client.send({ jsonrpc: '2.0', method, params });
    },
    async fire(method, params, id) {
      client.send({ jsonrpc: '2.0', id, method, params });
      return undefined;
    },
  });
}

async function connectHttp(owner: Owner, home: string, args: readonly string[]): Promise<Peer> {
  const program = await startListening(carrelProgram, ['fess', ...args], { HOME: home });
  owner.after(async () => void (await program.stop()));
  return httpPeer(owner, program, program.url);
}

/** A separate session on a listening program. */
export async function httpPeer(
  owner: Owner,
  program: ChildProgram,
  url: string,
  headers: Record<string, string> = {},
): Promise<Peer> {
  const messages: Message[] = [];
  const watchers = new Set<() => void>();
  const take = (received: Message[]): Message[] => {
    messages.push(...received);
    for (const look of watchers) look();
    return received;
  };
  const session = await openSession(url, revision, { headers });
  // Notifications after an answer arrive on the session's stream.
  await listenOn(owner, url, session.headers, take);
  const send = async (message: object): Promise<Message[]> => take((await session.send(message)).messages);
  const fire: Peer['fire'] = async (method, params, id) =>
    (await send({ jsonrpc: '2.0', id, method, params })).find((message) => message['id'] === id);
  return withCalls({
    program,
    initialized: (await post(url, initializeMessage, headers)).messages[0] ?? {},
    messages,
    fire,
    next: (fits) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = messages.find(fits);
          if (found === undefined) return;
          watchers.delete(look);
          resolve(found);
        };
        watchers.add(look);
        look();
      }),
    async request(method, params = {}, id = `r${++lastId}`) {
      const answer = await fire(method, params, id);
      if (answer === undefined) throw new Error(`no answer to ${method}`);
      return answer;
    },
    notify: async (method, params = {}) => void (await send({ jsonrpc: '2.0', method, params })),
  });
}

function listenOn(
  owner: Owner,
  url: string,
  headers: Record<string, string>,
  take: (messages: Message[]) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = get(url, { headers: { ...headers, accept: 'text/event-stream' }, agent: false }, (response) => {
      let rest = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        const events = (rest + text).split('\n\n');
        rest = events.pop() ?? '';
        take(events.flatMap((event) => [...event.matchAll(/^data: (.+)$/gm)].map(([, data = '']) => JSON.parse(data))));
      });
      response.on('error', () => {});
      resolve();
    });
    request.on('error', reject);
    owner.after(() => void request.destroy());
  });
}

export const initializeMessage = {
  jsonrpc: '2.0',
  id: 'handshake',
  method: 'initialize',
  params: { protocolVersion: revision, capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};

function withCalls(peer: Omit<Peer, 'call'>): Peer {
  return {
    ...peer,
    call: (tool, args = {}, { id, progressToken } = {}) => {
      const meta = progressToken === undefined ? {} : { _meta: { progressToken } };
      return peer.request('tools/call', { name: `fess_finance_${tool}`, arguments: args, ...meta }, id);
    },
  };
}

export interface World {
  fess: FakeFess;
  site: DocumentSite;
  corpus: Corpus;
  home: string;
  peer: Peer;
}

export interface WorldOptions {
  version?: FakeFessOptions['version'];
  transport?: TransportName;
  fess?: Partial<FakeFessOptions>;
  config?: Record<string, unknown>;
  args?: readonly string[];
  documentsPerLabel?: number;
}

/** A Fess with three labels, its document site, and a bridge to the domain `finance`. */
export async function openWorld(given: Owner, options: WorldOptions = {}): Promise<World> {
  const owner = lastFirst(given);
  const site = await startDocumentSite();
  owner.after(() => site.close());
  const { documentsPerLabel = 40 } = options;
  const corpus = generateCorpus({ siteUrl: site.url, documentsPerLabel });
  const fess = await startFakeFess({ version: options.version ?? '15.4', ...corpus, ...options.fess });
  owner.after(() => fess.close());
  // Anything may be slow on a busy machine; tests of jobs set their own threshold.
  const timeouts = { longRunningThresholdMs: 60_000 };
  const home = makeHome(owner, { fessBaseUrl: fess.url, domain: finance, timeouts, ...options.config });
  const peer = await connect(owner, options.transport ?? 'stdio', home, options.args);
  return { fess, site, corpus, home, peer };
}

/** A tool's result. Throws if it failed. */
export function dataOf(message: Message): Record<string, unknown> {
  if (message.error) throw new Error(`${message.error.code} ${message.error.message}`);
  return message.result?.['structuredContent'] as Record<string, unknown>;
}

export function paths(version: FakeFessOptions['version']) {
  return version === '15.4'
    ? {
        search: '/api/v1/documents',
        suggest: '/api/v1/suggest-words',
        popular: '/api/v1/popular-words',
        labels: '/api/v1/labels',
        health: '/api/v1/health',
      }
    : {
        search: '/api/v2/search',
        suggest: '/api/v2/suggest-words',
        popular: '/api/v2/popular-words',
        labels: '/api/v2/labels',
        health: '/api/v2/health',
      };
}

/** The last request to Fess under a path. */
export function lastRequest(fess: FakeFess, path: string) {
  return fess.requests.findLast((request) => request.path === path);
}
