import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { isCarrelError } from '../../../src/base/errors.ts';
import { createSafeFetch, type SafeFetch, type SafeFetchConfig } from '../../../src/web/safe-fetch.ts';
import { parseTargetList } from '../../../src/web/target-list.ts';
import { size } from '../../support/sizes.ts';
import type { Case } from './attack-plan.ts';
import { publicPage } from './internet.ts';

export interface Outcome {
  kind: 'reached' | 'refused' | 'failed';
  /** The error's code, or the beginning of the response. */
  detail: string;
}

/**
 * A way by which an untrusted URL gets fetched. It is opened inside the namespace: a function, or a child process, which
 * inherits the namespace.
 */
export interface Road {
  name: string;
  /** Whether this case can end as planned on this road. */
  takes(attack: Case, index: number): boolean;
  /** Whether it opens other TCP connections besides the fetch, which makes the kernel's count useless. */
  hasOwnConnections: boolean;
  open(): Promise<OpenRoad>;
}

/** Clauses of a specification that the roads prove, besides that no canary is hit. */
export const provenByRoads = ['004 fetch_page/ssrf', '004 fetch_page/rebinding', '004 fetch_page/redirects'];

export interface OpenRoad {
  fetch(url: string): Promise<Outcome>;
  close(): Promise<void>;
}

const timeoutMs = 4000;

/** `safe fetch`, the rules themselves, takes every case. The program, which uses them, takes every fourth. */
const step = size({ quick: 4, full: 1 });

/** Everything that an operator could allow. */
const everythingAllowed: SafeFetchConfig = {
  timeoutMs,
  allowPrivateNetworks: true,
  allowPrivate: parseTargetList(['0.0.0.0/0', '::/0', '169.254.169.254', '169.254.169.254:80', '*.test', 'metadata']),
};

export const roads: Road[] = [
  {
    name: 'safe fetch',
    takes: () => true,
    hasOwnConnections: false,
    open: async () => overSafeFetch(createSafeFetch({ timeoutMs })),
  },
  {
    name: 'safe fetch with all private networks allowed',
    takes: (attack) => attack.isMetadata,
    hasOwnConnections: false,
    open: async () => overSafeFetch(createSafeFetch(everythingAllowed)),
  },
  {
    name: 'fetch_page of the built program',
    takes: (attack, index) => attack.times > 1 || index % step === 0,
    hasOwnConnections: false,
    open: async () => overFetchPage({}),
  },
  {
    name: 'fetch_page, going on in Markdown, with everything allowed that can be',
    takes: (attack) => attack.isMetadata,
    hasOwnConnections: false,
    open: async () => overFetchPage({ extract_mode: 'markdown', start: 1 }, '0.0.0.0/0,::/0,*.test,metadata'),
  },
];

/** A fetch without our rules. It shows that the canaries can be reached. */
export const unguardedRoad: Road = {
  name: 'unguarded fetch',
  takes: (attack, index) => attack.expected !== 'failed' && index % step === 0,
  hasOwnConnections: false,
  open: async () => ({
    fetch: async (url) => {
      try {
        const response = await fetch(url, { signal: AbortSignal.timeout(1000), headers: { connection: 'close' } });
        return { kind: 'reached', detail: (await response.text()).slice(0, 40) };
      } catch (error) {
        return { kind: 'failed', detail: String(error) };
      }
    },
    close: async () => {},
  }),
};

function overSafeFetch(safeFetch: SafeFetch): OpenRoad {
  return {
    fetch: async (url) => {
      try {
        const { body } = await safeFetch(url);
        const text = new TextDecoder().decode(body);
        return { kind: text === publicPage ? 'reached' : 'failed', detail: text.slice(0, 40) };
      } catch (error) {
        if (!isCarrelError(error)) throw error;
        return { kind: refusals.has(error.code) ? 'refused' : 'failed', detail: error.code };
      }
    },
    close: async () => {},
  };
}

/** A program started as by a client; it inherits the namespace. */
async function overFetchPage(args: object, allowPrivate = ''): Promise<OpenRoad> {
  const home = mkdtempSync(join(tmpdir(), 'carrel-ssrf-'));
  const program = join(import.meta.dirname, '../../../bin/carrel.js');
  const child = spawn(process.execPath, [program, 'research', '--transport', 'stdio'], {
    cwd: home,
    env: {
      ...process.env,
      CARREL_HOME: home,
      RATE_LIMIT_FETCH: '100000',
      FETCH_TIMEOUT_MS: String(timeoutMs),
      FETCH_ALLOW_PRIVATE: allowPrivate,
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ask = createAsker(child);
  const clientInfo = { name: 'ssrf', version: '1' };
  await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  return {
    fetch: async (url) => {
      const { result, error } = await ask('tools/call', { name: 'fetch_page', arguments: { url, ...args } });
      if (error !== undefined) {
        const { code } = error.data;
        return { kind: code === 'fetch_invalid_url' ? 'refused' : 'failed', detail: code };
      }
      const text = String(result?.structuredContent.content);
      return { kind: text === publicPage ? 'reached' : 'failed', detail: text.slice(0, 40) };
    },
    close: async () => {
      child.kill('SIGKILL');
      rmSync(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

interface Answer {
  id: number;
  result?: { structuredContent: { content: string } };
  error?: { data: { code: string } };
}

function createAsker({ stdin, stdout }: ChildProcess) {
  const waiting = new Map<number, (answer: Answer) => void>();
  if (stdout) createInterface(stdout).on('line', (line) => settle(JSON.parse(line)));
  const settle = (answer: Answer): void => waiting.get(answer.id)?.(answer);
  let id = 0;
  return (method: string, params: object): Promise<Answer> =>
    new Promise((resolve) => {
      id += 1;
      waiting.set(id, resolve);
      stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    });
}

/** Codes of our own rules. A connection that merely failed proves nothing. */
const refusals = new Set<string>([
  'invalid_url',
  'credentials_in_url',
  'scheme_not_allowed',
  'host_not_allowed',
  'port_not_allowed',
  'private_network_blocked',
]);
