import { connectHttp } from './http-client.ts';
import { concurrency } from './load.ts';
import { startPeer } from './peer-process.ts';
import type { HttpMode } from './peers/echo.ts';
import { type Client, connectStdio } from './stdio-client.ts';

export const peerNames = ['bare-node', 'sdk-v1-stdio', 'sdk-v1-http', 'sdk-v2-stdio', 'sdk-v2-http', 'carrel'] as const;
export type PeerName = (typeof peerNames)[number];

export type ServerName = 'bare node' | 'SDK v1' | 'SDK v2' | 'Carrel';

/** One server in one setting. Cases of the same group do the same work over the same transport, so they can be compared. */
export interface Case {
  group: string;
  server: ServerName;
  file: PeerName;
  transport: 'stdio' | 'http';
  mode: HttpMode;
}

const stdio = 'stdio, session';
const json = 'HTTP, session, JSON';
const sse = 'HTTP, session, SSE';
export const groups = { stdio, json, sse, stdioModern: 'stdio, 2026-07-28', modern: 'HTTP, 2026-07-28' } as const;

export const cases: readonly Case[] = [
  { group: stdio, server: 'bare node', file: 'bare-node', transport: 'stdio', mode: 'json' },
  { group: stdio, server: 'SDK v1', file: 'sdk-v1-stdio', transport: 'stdio', mode: 'json' },
  { group: stdio, server: 'SDK v2', file: 'sdk-v2-stdio', transport: 'stdio', mode: 'json' },
  { group: stdio, server: 'Carrel', file: 'carrel', transport: 'stdio', mode: 'json' },
  { group: groups.stdioModern, server: 'SDK v2', file: 'sdk-v2-stdio', transport: 'stdio', mode: 'modern' },
  { group: groups.stdioModern, server: 'Carrel', file: 'carrel', transport: 'stdio', mode: 'modern' },
  { group: json, server: 'bare node', file: 'bare-node', transport: 'http', mode: 'json' },
  { group: json, server: 'SDK v1', file: 'sdk-v1-http', transport: 'http', mode: 'json' },
  { group: json, server: 'SDK v2', file: 'sdk-v2-http', transport: 'http', mode: 'json' },
  { group: json, server: 'Carrel', file: 'carrel', transport: 'http', mode: 'json' },
  { group: sse, server: 'SDK v1', file: 'sdk-v1-http', transport: 'http', mode: 'sse' },
  { group: sse, server: 'SDK v2', file: 'sdk-v2-http', transport: 'http', mode: 'sse' },
  { group: sse, server: 'Carrel', file: 'carrel', transport: 'http', mode: 'sse' },
  { group: groups.modern, server: 'SDK v2', file: 'sdk-v2-http', transport: 'http', mode: 'modern' },
  { group: groups.modern, server: 'Carrel', file: 'carrel', transport: 'http', mode: 'modern' },
];

export interface RunningCase {
  readonly case: Case;
  readonly pid: number;
  readonly client: Client;
  kill(): Promise<void>;
}

/** Starts a case in its own process, so that memory used by one kind of request does not affect another. */
export async function startCase(testCase: Case, file: string): Promise<RunningCase> {
  const peer = startPeer([file, testCase.transport, testCase.mode]);
  const client = await (testCase.transport === 'stdio'
    ? connectStdio(peer, testCase.mode === 'modern')
    : connectHttp({
        url: await peer.nextLine(),
        mode: testCase.mode,
        accept: acceptHeader(testCase),
        connections: concurrency,
      }));
  return {
    case: testCase,
    pid: peer.pid,
    client,
    async kill() {
      client.close();
      await peer.kill();
    },
  };
}

/** Returns the Accept header. Carrel streams if a client accepts only event streams; the SDKs require both types in any mode. */
function acceptHeader({ server, mode }: Case): string {
  return server === 'Carrel' && mode === 'sse' ? 'text/event-stream' : 'application/json, text/event-stream';
}
