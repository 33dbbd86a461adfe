import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { clientAddress, loopbackAddress } from './client-address.ts';

export interface ConnectionLimits {
  /** Connections that may be open at the same time. */
  readonly connectionsMax: number;
  /** Of these, from one address. Clients on this machine share one, so it may have them all. */
  readonly perAddressMax: number;
}

export interface Connections {
  /** A request is being answered on it, so it is not closed to make room. */
  hold(socket: Socket): () => void;
  /** How many are open. */
  count(): number;
}

/**
 * Bounds the connections in all and of each address. A new one takes the place of the one that has been idle longest, at the
 * address that has most: whoever opens thousands loses their own, and others are served.
 */
export function limitConnections(
  server: Server,
  { connectionsMax, perAddressMax }: ConnectionLimits,
  onRefused: () => void = () => {},
): Connections {
  const open = new Map<string, Set<Socket>>();
  // In the order in which they became idle. A connection without a request is idle from the start.
  const idle = new Map<string, Set<Socket>>();
  let count = 0;

  const addTo = (map: Map<string, Set<Socket>>, address: string, socket: Socket): void => {
    const there = map.get(address);
    if (there) there.add(socket);
    else map.set(address, new Set([socket]));
  };
  const takeFrom = (map: Map<string, Set<Socket>>, address: string, socket: Socket): boolean => {
    const there = map.get(address);
    if (!there?.delete(socket)) return false;
    if (there.size === 0) map.delete(address);
    return true;
  };
  const forget = (address: string, socket: Socket): void => {
    takeFrom(idle, address, socket);
    if (takeFrom(open, address, socket)) count -= 1;
  };

  /** False if all connections of the address are in use. */
  const closeIdle = (address: string): boolean => {
    const [oldest] = idle.get(address) ?? [];
    if (oldest === undefined) return false;
    forget(address, oldest);
    oldest.destroy();
    return true;
  };

  /** Of the addresses with most connections first. */
  const makeRoom = (): boolean =>
    [...open].toSorted(([, a], [, b]) => b.size - a.size).some(([address]) => closeIdle(address));

  server.on('connection', (socket: Socket) => {
    const address = clientAddress(socket.remoteAddress);
    const most = address === loopbackAddress ? connectionsMax : perAddressMax;
    const own = open.get(address)?.size ?? 0;
    if ((own >= most && !closeIdle(address)) || (count >= connectionsMax && !makeRoom())) {
      socket.destroy();
      onRefused();
      return;
    }
    count += 1;
    addTo(open, address, socket);
    addTo(idle, address, socket);
    socket.once('close', () => forget(address, socket));
  });

  return {
    count: () => count,
    hold(socket) {
      const address = clientAddress(socket.remoteAddress);
      takeFrom(idle, address, socket);
      return () => {
        if (open.get(address)?.has(socket)) addTo(idle, address, socket);
      };
    },
  };
}
