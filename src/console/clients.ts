/** A client with its connections and calls. Its name is the one it reports. */
export interface ConsoleClient {
  name: string;
  version: string;
  transport: 'http' | 'stdio';
  /** A token's name, or an address. */
  caller: string;
  /** When its oldest open connection started or, without one, its first call. Milliseconds since 1970. */
  since: number;
  /** Open connections. Clients that use a protocol revision without sessions have none. */
  connections: number;
  calls: number;
  failures: number;
  lastAt: number;
  /** The tools it called, latest first. */
  tools: readonly string[];
}

export type ClientIdentity = Pick<ConsoleClient, 'name' | 'version' | 'transport' | 'caller'>;

/** Clients that are connected or have called recently. Kept in memory, so a restart clears them. */
export interface Clients {
  /** Records a connection. Returns a function to call when it ends. */
  connected(client: ClientIdentity, now: number): () => void;
  called(client: ClientIdentity, call: { tool: string; failed: boolean; at: number }): void;
  /** Lists connected clients first, then the others, most recent first. */
  list(): ConsoleClient[];
}

const clientsMax = 200;
const toolsMax = 8;

export function createClients(): Clients {
  /** Clients in the order of their last use. */
  const clients = new Map<string, ConsoleClient>();

  const touch = (client: ClientIdentity, now: number): ConsoleClient => {
    const key = JSON.stringify([client.name, client.version, client.transport, client.caller]);
    const entry = clients.get(key) ?? {
      ...client,
      since: now,
      connections: 0,
      calls: 0,
      failures: 0,
      lastAt: now,
      tools: [],
    };
    clients.delete(key);
    clients.set(key, entry);
    if (clients.size > clientsMax) {
      const [evicted] = [...clients].toSorted(([, a], [, b]) => Math.sign(a.connections) - Math.sign(b.connections));
      if (evicted) clients.delete(evicted[0]);
    }
    return entry;
  };

  return {
    connected(client, now) {
      const entry = touch(client, now);
      if (entry.connections === 0) entry.since = now;
      entry.connections += 1;
      entry.lastAt = now;
      let isOpen = true;
      return () => {
        if (isOpen) entry.connections -= 1;
        isOpen = false;
      };
    },
    called(client, { tool, failed, at }) {
      const entry = touch(client, at);
      entry.calls += 1;
      entry.failures += failed ? 1 : 0;
      entry.lastAt = at;
      entry.tools = [tool, ...entry.tools.filter((each) => each !== tool)].slice(0, toolsMax);
    },
    list: () =>
      [...clients.values()].toSorted(
        (a, b) => Math.sign(b.connections) - Math.sign(a.connections) || b.lastAt - a.lastAt,
      ),
  };
}
