import { Agent, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { type Owner, serveHttp } from '../../test/fakes/loopback-server.ts';
import { type Carrel, startCarrel, withModels } from '../../test/support/child-program.ts';
import { treeCpuMs } from '../processes.ts';

/** Several processes on one database, and a balancer that alternates between them. */
export interface Cluster {
  /** URL of the balancer. */
  readonly url: string;
  /** Returns the CPU time of all processes so far, including killed ones. */
  cpuMs(): number;
  /** Kills the first process and starts another in its place. */
  killOne(): Promise<void>;
}

export async function startCluster(owner: Owner, count: number, env: Record<string, string>): Promise<Cluster> {
  // Only the database is shared: each process has its own folder.
  const start = () => startCarrel(owner, ['serve', '--transport', 'http'], { env: { ...withModels, ...env } });
  const first = await start();
  const processes: Carrel[] = [first, ...(await Promise.all(Array.from({ length: count - 1 }, start)))];
  let killedCpuMs = 0;
  const balancer = await startBalancer(owner, () => processes.map(({ origin }) => origin));
  return {
    url: `${balancer}/mcp`,
    cpuMs: () => killedCpuMs + treeCpuMs(processes.map(pidOf)),
    async killOne() {
      const [killed] = processes;
      if (killed === undefined) return;
      killedCpuMs += treeCpuMs([pidOf(killed)]);
      killed.process.kill('SIGKILL');
      await killed.exited;
      processes.shift();
      processes.push(await start());
    },
  };
}

function pidOf({ process }: Carrel): number {
  return process.pid ?? 0;
}

/**
 * Starts a minimal balancer. It skips processes that refuse the connection. If a connection breaks during a request, it answers
 * 502, because the outcome is unknown; the client then retries.
 */
async function startBalancer(owner: Owner, origins: () => readonly string[]): Promise<string> {
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  owner.after(() => agent.destroy());
  let next = 0;
  const forward = (body: Buffer, incoming: IncomingMessage, outgoing: ServerResponse, attempt: number): void => {
    const all = origins();
    const origin = all[next++ % all.length];
    if (origin === undefined || attempt > all.length) {
      outgoing.writeHead(502).end();
      return;
    }
    const { method, headers, url = '' } = incoming;
    const forwarded = request(new URL(url, origin), { method, headers, agent }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
      answer.on('error', () => outgoing.destroy());
    });
    forwarded.on('error', (error: NodeJS.ErrnoException) => {
      if (outgoing.headersSent) outgoing.destroy();
      else if (error.code === 'ECONNREFUSED') forward(body, incoming, outgoing, attempt + 1);
      else outgoing.writeHead(502).end();
    });
    forwarded.end(body);
  };
  const server = await serveHttp(owner, (incoming, outgoing) => {
    const parts: Buffer[] = [];
    incoming.on('data', (part: Buffer) => parts.push(part));
    incoming.on('end', () => forward(Buffer.concat(parts), incoming, outgoing, 1));
  });
  return server.origin;
}
